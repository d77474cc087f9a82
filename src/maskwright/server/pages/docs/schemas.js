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
  const known = resolved(schema, components);
  if (known.examples?.length > 0) return known.examples[0];
  if ("const" in known) return known.const;
  if ("default" in known && known.default !== null) return known.default;
  if (known.enum) return known.enum[0];
  const choices = known.anyOf ?? known.oneOf;
  if (choices) {
    const useful = choices.find((each) => resolved(each, components).type !== "null") ?? choices[0];
    return exampleOf(depth > DEEPEST ? choices.find((each) => each.type === "null") ?? useful : useful, components, depth + 1);
  }
  if (known.allOf) return Object.assign({}, ...known.allOf.map((each) => exampleOf(each, components, depth + 1)));
  const type = [known.type].flat().find((each) => each !== "null");
  if (type === "object" || known.properties) return exampleObject(known, components, depth);
  if (type === "array") return exampleArray(known, components, depth);
  if (type === "integer" || type === "number") return Math.max(known.minimum ?? 0, Math.min(known.maximum ?? 1, 1));
  if (type === "boolean") return true;
  if (type === "string") return exampleText(known, components, depth);
  return known.type === "null" ? null : {};
}

function exampleObject(schema, components, depth) {
  const required = new Set(schema.required ?? []);
  const shown = Object.entries(schema.properties ?? {}).filter(([name]) => required.has(name) || depth < 2);
  const undescribed = [...required].filter((name) => !(name in (schema.properties ?? {}))).map((name) => [name, {}]);
  return Object.fromEntries([...shown, ...undescribed].map(([name, each]) => [name, exampleOf(each, components, depth + 1)]));
}

function exampleArray(schema, components, depth) {
  const few = Math.max(schema.minItems ?? 0, depth > DEEPEST ? 0 : 1);
  if (schema.prefixItems) return schema.prefixItems.map((each) => exampleOf(each, components, depth + 1));
  return Array.from({ length: Math.min(few, schema.maxItems ?? few) }, () => exampleOf(schema.items ?? {}, components, depth + 1));
}

const TEXTS = { "^[0-9]+$": "0" }; // by their pattern

function exampleText(schema, components, depth) {
  if (schema.contentSchema) return JSON.stringify(exampleOf(schema.contentSchema, components, depth + 1));
  const text = TEXTS[schema.pattern] ?? "text";
  return text.padEnd(schema.minLength ?? 0, "x").slice(0, schema.maxLength ?? undefined);
}
