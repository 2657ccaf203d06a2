type Node = { [key: string]: unknown };

/**
 * Says in words what an absent field means, in place of `default`: generators take a field that has one
 * as always there, so that a body without it would not fit its type. What a response always has needs none.
 */
export function describeDefaults(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  const { properties, required, items, additionalProperties, anyOf, oneOf, allOf } = schema as Node;
  const always = new Set(Array.isArray(required) ? required : []);
  for (const [name, field] of Object.entries((properties ?? {}) as Record<string, Node>)) {
    if (Object.hasOwn(field, "default") && !always.has(name)) {
      const { description = "" } = field as { description?: string };
      const text = `Default: \`${JSON.stringify(field["default"])}\`.`;
      field["description"] =
        description === "" ? text : `${description.replace(/\.?$/, ".")} ${text}`;
    }
    delete field["default"];
    describeDefaults(field);
  }
  for (const part of [items, additionalProperties, anyOf, oneOf, allOf].flat())
    describeDefaults(part);
}
