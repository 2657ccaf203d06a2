import { readFileSync } from "node:fs";
import { invalid } from "../core/validation.ts";

/** The text of a file, - is standard input. Throws VALIDATION_ERROR naming the option. */
export function readText(option: string, file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw invalid(option, `can't be read (${(error as Error).message})`);
  }
}
