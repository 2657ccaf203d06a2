import { en } from "./en.ts";
import { Language } from "./language.ts";

export const english = new Language("en", en);
