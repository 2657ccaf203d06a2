/**
 * Texts of the admin page. The build of the page replaces each call with the text in the language
 * of the page, so that no dictionary is loaded. Everywhere else the text is English.
 */

/** Names of the placeholders in a text, such as `"name"` of `Delete {name}?`, but not of `{{name}}`. */
type Placeholder<Text extends string> = Text extends `${infer Start}{{${string}}}${infer Rest}`
  ? Placeholder<Start> | Placeholder<Rest>
  : Text extends `${string}{${infer Name}}${infer Rest}`
    ? Name | Placeholder<Rest>
    : never;

export type Values<Text extends string, Value, Given extends string = never> = [
  Exclude<Placeholder<Text>, Given>,
] extends [never]
  ? []
  : [values: Record<Exclude<Placeholder<Text>, Given>, Value>];

export type PrintableValue = string | number;

export const placeholders = /(?<!\{)\{(\w+)\}(?!\})/g;

/** Replaces the placeholders of a text. */
export const fill = (text: string, values: Record<string, PrintableValue> = {}) =>
  text.replace(placeholders, (_, name: string) => String(values[name]));

/** Returns a text with its values. Keys of dictionaries are the English texts. */
export const t = <const Text extends string>(
  text: Text,
  ...[values]: Values<Text, PrintableValue>
) => fill(text, values);
