// The official `openai` package of npm: parsing, streams, tools and responses, as it sends them.

import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI({ baseURL: process.env.MASKWRIGHT_BASE, apiKey: "none", maxRetries: 0 });
const model = "maskwright-demo";
const messages = [{ role: "user", content: "Anna Berg, 34, lives in Oslo." }];
const Person = z.object({ name: z.string(), age: z.number().int(), city: z.string() });
const Weather = z.object({ city: z.string(), days: z.number().int().min(1).max(14) });
const weather = zodFunction({ name: "get_weather", parameters: Weather });

test("a class is parsed", async () => {
  const format = zodResponseFormat(Person, "person");
  const answer = await client.chat.completions.parse({ model, messages, response_format: format, temperature: 0 });
  assert.deepEqual(answer.choices[0].message.parsed, { name: "Anna Berg", age: 34, city: "Oslo" });
});

test("a stream of a class ends with the parsed object", async () => {
  const format = zodResponseFormat(Person, "person");
  const stream = client.chat.completions.stream({ model, messages, response_format: format, temperature: 0 });
  let text = "";
  stream.on("content.delta", ({ delta }) => { text += delta; });
  const final = await stream.finalChatCompletion();
  assert.deepEqual(final.choices[0].message.parsed, Person.parse(JSON.parse(text)));
});

test("the arguments of a tool are parsed, whole and streamed", async () => {
  const asked = { model, messages, tools: [weather], tool_choice: "required", parallel_tool_calls: false };
  const whole = await client.chat.completions.parse(asked);
  const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
  for (const { choices: [choice] } of [whole, streamed]) {
    const [call, ...others] = choice.message.tool_calls;
    assert.equal(others.length, 0);
    assert.equal(call.function.name, "get_weather");
    Weather.parse(call.function.parsed_arguments);
  }
});

test("a response is parsed", async () => {
  const text = { format: zodTextFormat(Person, "person") };
  const answer = await client.responses.parse({ model, input: messages, text, temperature: 0 });
  assert.deepEqual(answer.output_parsed, { name: "Anna Berg", age: 34, city: "Oslo" });
});

test("the events of a response come in order", async () => {
  const events = [];
  const stream = client.responses.stream({ model, input: "Name a colour.", max_output_tokens: 16 });
  for await (const event of stream) events.push(event);
  assert.equal(events[0].type, "response.created");
  assert.match(events.at(-1).type, /^response\.(completed|incomplete)$/);
  events.forEach((event, at) => assert.equal(event.sequence_number, at));
  const said = events.filter(({ type }) => type === "response.output_text.delta").map(({ delta }) => delta).join("");
  assert.equal((await stream.finalResponse()).output_text, said);
});

test("an error has its message, its code and its place", async () => {
  const asked = client.chat.completions.create({ model, messages, temperature: 101 });
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.param, "temperature");
    assert.match(error.message, /temperature must be a number from 0 to 100/);
    return true;
  });
});

test("an answer that is cut off is an error of its own", async () => {
  const format = zodResponseFormat(Person, "person");
  const asked = client.chat.completions.parse({ model, messages, response_format: format, max_tokens: 4 });
  await assert.rejects(asked);
});
