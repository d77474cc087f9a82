// A JSON Schema in a few words, as it stands in a table.

/** Pieces of text, and of names of schemas (`name`), that say what values a schema allows. */
export function kindOf(schema) {
  if (schema.$ref) return [{ name: schema.$ref.split("/").at(-1) }];
  const usual = "default" in schema ? `, default ${JSON.stringify(schema.default)}` : "";
  if (schema.anyOf) return [...between(schema.anyOf.map(kindOf), " or "), ...(usual ? [{ text: usual }] : [])];
  if (schema.contentSchema) return [{ text: "JSON of " }, ...kindOf(schema.contentSchema)];
  if ("const" in schema) return [{ text: JSON.stringify(schema.const) }];
  if (schema.enum) return between(schema.enum.map((value) => [{ text: JSON.stringify(value) }]), " or ");
  if (schema.type === "array") return [{ text: `array${bounds(schema, "minItems", "maxItems")} of ` }, ...kindOf(schema.items ?? {})];
  if (!schema.type) return [{ text: "any value" }];
  const limits = bounds(schema, "minimum", "maximum") + bounds(schema, "minLength", "maxLength", " characters");
  return [{ text: [schema.type].flat().join(" or ") + limits + usual }];
}

function bounds(schema, least, most, unit = "") {
  const [low, high] = [schema[least], schema[most]];
  if (low === undefined && high === undefined) return "";
  if (high === undefined) return ` of at least ${low}${unit}`;
  return low === undefined ? ` of at most ${high}${unit}` : ` from ${low} to ${high}${unit}`;
}

function between(lists, word) {
  return lists.flatMap((pieces, at) => (at > 0 ? [{ text: word }, ...pieces] : pieces));
}
