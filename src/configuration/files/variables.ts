export type Variables = Readonly<Record<string, string | undefined>>;

type Sources = {
  variables: Variables;
  /** What a file beside the configuration holds. */
  readFile: (path: string) => string;
};

/**
 * `${NAME}`, `${NAME:-where that is unset or empty}`, `${file:PATH}`; `$$` is one `$`. Answers what went wrong
 * as the end of a sentence: nothing that is unset or can't be read passes as an empty text.
 */
export function expanded(
  text: string,
  { variables, readFile }: Sources,
  fail: (message: string) => never,
): string {
  return text.replace(/\$(?:\$|\{([^}]*)(\}?))/g, (whole, inner?: string, end?: string) => {
    if (whole === "$$") return "$";
    if (inner === undefined || end === "") return fail("${ has no } behind it; $$ is a plain $");
    const file = /^file:(.+)$/.exec(inner)?.[1];
    if (file !== undefined) return contentOf(file, readFile, fail);
    const [, name = "", fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inner) ?? [];
    if (name === "")
      return fail(
        "${…} must hold a variable, a variable with :- and a default, or file: and a path",
      );
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
    return value ?? fail(`the variable ${name} is not set`);
  });
}

/** A line break at the end of a file is the editor's. */
function contentOf(
  path: string,
  readFile: (path: string) => string,
  fail: (message: string) => never,
): string {
  try {
    return readFile(path).replace(/\r?\n$/, "");
  } catch (error) {
    return fail(
      `the file ${path} can't be read (${(error as NodeJS.ErrnoException).code ?? "no text"})`,
    );
  }
}

/** Whether the whole text is one variable or file: then it may stand for a number or a switch. */
export const isOneVariable = (text: string) => /^\$\{[^}]*\}$/.test(text);

/** A text in which nothing is taken for a variable. */
export const escaped = (text: string) => text.replaceAll("$", "$$$$");
