"""Masks inside other libraries' inference, for programs that don't use our engine.

Nothing else imports this package, and each module imports the library that it serves. So import the
module itself, as in `from maskwright.integrations.transformers import GrammarLogitsProcessor`.

- `followed_text`: A text that another library writes, and its matcher.
- `llama_cpp_python`: A logits processor for llama-cpp-python.
- `named_shape`: Grammars from the JSON that a request to another server carries.
- `sglang`: A grammar backend for SGLang.
- `transformers`: A logits processor for `generate` of the transformers library.
- `vllm`: A logits processor for vLLM.
"""
