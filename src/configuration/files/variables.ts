import { explainUnreadable } from "../../core/system/system-errors.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

type Sources = {
  variables: Variables;
  /** Reads a file relative to the configuration. */
  readFile: (path: string) => string;
};

/**
 * Expands `${NAME}`, `${NAME:-default}` and `${file:PATH}`; `$$` is a dollar sign. Passes errors to
 * `fail` as the end of a sentence. An unset variable or an unreadable file is an error.
 */
export function expandVariables(
  text: string,
  { variables, readFile }: Sources,
  fail: (message: string) => never,
): string {
  return text.replace(/\$(?:\$|\{([^}]*)(\}?))/g, (whole, inner?: string, end?: string) => {
    if (whole === "$$") return "$";
    if (inner === undefined || end === "") return fail("${ has no } behind it; $$ is a plain $");
    const file = /^file:(.+)$/.exec(inner)?.[1];
    if (file !== undefined) return readContent(file, readFile, fail);
    const [, name = "", fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inner) ?? [];
    if (name === "")
      return fail(
        "${…} must contain a variable, a variable with :- and a default, or file: and a path",
      );
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
    return value ?? fail(`the variable ${name} is not set`);
  });
}

/** Returns the contents of the file without the final line break, which editors add. */
function readContent(
  path: string,
  readFile: (path: string) => string,
  fail: (message: string) => never,
): string {
  try {
    return readFile(path).replace(/\r?\n$/, "");
  } catch (error) {
    return fail(`the file ${path} can't be read: ${explainUnreadable(error, path)}`);
  }
}

/** Whether the text is a single variable. Its value can then become a number or a boolean. */
export const isOneVariable = (text: string) => /^\$\{[^}]*\}$/.test(text);

/** Escapes dollar signs so that no variable is expanded. */
export const escapeDollars = (text: string) => text.replaceAll("$", "$$$$");
