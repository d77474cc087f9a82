// What the schemas of the document say together: the names of all fields of a call, and an example.

/** What a reference of the document leads to. */
export function resolved(schema, components) {
  return schema.$ref ? components[schema.$ref.split("/").at(-1)] ?? {} : schema;
}

/** The names of all fields within a schema and those that it refers to, and what is said of them. */
export function fieldsOf(schema, components, seen = new Set(), found = new Map()) {
  if (Array.isArray(schema)) schema.forEach((each) => fieldsOf(each, components, seen, found));
  else if (typeof schema === "object" && schema !== null) {
    if (schema.$ref) {
      if (seen.has(schema.$ref)) return found;
      seen.add(schema.$ref);
      return fieldsOf(resolved(schema, components), components, seen, found);
    }
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      found.set(name, `${found.get(name) ?? ""} ${each.description ?? ""}`);
    }
    for (const [key, each] of Object.entries(schema)) {
      if (!["enum", "const", "default", "examples", "required"].includes(key)) fieldsOf(each, components, seen, found);
    }
  }
  return found;
}

const DEEPEST = 8;

/** A value of a schema, as its examples, its defaults and its bounds have it. */
export function exampleOf(schema, components, depth = 0) {
  const told = resolved(schema, components);
  if (told.examples?.length > 0) return told.examples[0];
  if ("const" in told) return told.const;
  if ("default" in told && told.default !== null) return told.default;
  if (told.enum) return told.enum[0];
  const choices = told.anyOf ?? told.oneOf;
  if (choices) {
    const useful = choices.find((each) => resolved(each, components).type !== "null") ?? choices[0];
    return exampleOf(depth > DEEPEST ? choices.find((each) => each.type === "null") ?? useful : useful, components, depth + 1);
  }
  if (told.allOf) return Object.assign({}, ...told.allOf.map((each) => exampleOf(each, components, depth + 1)));
  const type = [told.type].flat().find((each) => each !== "null");
  if (type === "object" || told.properties) return exampleObject(told, components, depth);
  if (type === "array") return exampleArray(told, components, depth);
  if (type === "integer" || type === "number") return Math.max(told.minimum ?? 0, Math.min(told.maximum ?? 1, 1));
  if (type === "boolean") return true;
  if (type === "string") return exampleText(told, components, depth);
  return told.type === "null" ? null : {};
}

function exampleObject(told, components, depth) {
  const required = new Set(told.required ?? []);
  const shown = Object.entries(told.properties ?? {}).filter(([name]) => required.has(name) || depth < 2);
  const undescribed = [...required].filter((name) => !(name in (told.properties ?? {}))).map((name) => [name, {}]);
  return Object.fromEntries([...shown, ...undescribed].map(([name, each]) => [name, exampleOf(each, components, depth + 1)]));
}

function exampleArray(told, components, depth) {
  const few = Math.max(told.minItems ?? 0, depth > DEEPEST ? 0 : 1);
  if (told.prefixItems) return told.prefixItems.map((each) => exampleOf(each, components, depth + 1));
  return Array.from({ length: Math.min(few, told.maxItems ?? few) }, () => exampleOf(told.items ?? {}, components, depth + 1));
}

const TEXTS = { "^[0-9]+$": "0" }; // by their pattern

function exampleText(told, components, depth) {
  if (told.contentSchema) return JSON.stringify(exampleOf(told.contentSchema, components, depth + 1));
  const text = TEXTS[told.pattern] ?? "text";
  return text.padEnd(told.minLength ?? 0, "x").slice(0, told.maxLength ?? undefined);
}
