// The Vercel AI SDK: objects, streams and tools, over responses (the default of its OpenAI provider),
// over chat completions, and with the provider for compatible servers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, streamObject, streamText, tool } from "ai";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false;
const baseURL = process.env.MASKWRIGHT_BASE;
const official = createOpenAI({ baseURL, apiKey: "none" });
const compatible = createOpenAICompatible({ name: "maskwright", baseURL, supportsStructuredOutputs: true, includeUsage: true });
const MODELS = {
  responses: official("maskwright-demo"),
  chat: official.chat("maskwright-demo"),
  compatible: compatible("maskwright-demo"),
};
const prompt = "Anna Berg, 34, lives in Oslo.";
const schema = z.object({ name: z.string(), age: z.number().int(), city: z.string() });
const anna = { name: "Anna Berg", age: 34, city: "Oslo" };
const inputSchema = z.object({ city: z.string(), days: z.number().int().min(1).max(14) });

for (const [kind, model] of Object.entries(MODELS)) {
  test(`${kind}: an object`, async () => {
    const { object } = await generateObject({ model, schema, prompt, temperature: 0, maxRetries: 0 });
    assert.deepEqual(object, anna);
  });

  test(`${kind}: a stream of an object`, async () => {
    const answer = streamObject({ model, schema, prompt, temperature: 0, maxRetries: 0 });
    let last;
    for await (const part of answer.partialObjectStream) last = part;
    assert.deepEqual(last, anna);
    assert.deepEqual(await answer.object, anna);
  });

  test(`${kind}: one of several words`, async () => {
    const words = ["red", "blue"];
    const { object } = await generateObject({ model, output: "enum", enum: words, prompt, maxRetries: 0 });
    assert.ok(words.includes(object));
  });

  test(`${kind}: a call of a tool, whole and streamed`, async () => {
    const tools = { get_weather: tool({ description: "The weather of a city.", inputSchema }) };
    const asked = { model, tools, toolChoice: "required", prompt, maxRetries: 0 };
    const streamed = streamText(asked);
    for (const calls of [(await generateText(asked)).toolCalls, await streamed.toolCalls]) {
      assert.ok(calls.length > 0);
      for (const call of calls) {
        assert.equal(call.toolName, "get_weather");
        inputSchema.parse(call.input);
      }
    }
  });

  test(`${kind}: a stream of text`, async () => {
    const answer = streamText({ model, prompt: "Name a colour.", maxOutputTokens: 16, maxRetries: 0 });
    let text = "";
    for await (const part of answer.textStream) text += part;
    assert.ok(text.length > 0);
    assert.ok((await answer.usage).outputTokens > 0);
  });
}
