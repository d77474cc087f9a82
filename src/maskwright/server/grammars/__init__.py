"""The grammar of an answer: which one, and its compiled form.

- `cache`: Compiled grammars, kept by their recipe.
- `recipes`: From what a request asks for to the grammar of its answer.
- `tool_style`: Which tool format a checkpoint was trained on, recognised by its chat template.
"""
