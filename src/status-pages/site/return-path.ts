import { getOriginalRequest } from "../../http/original-request.ts";
import { readQueryParameter } from "../../http/query-parameter.ts";
import { pathOf } from "../../http/request.ts";

/** Parameters that choose what a page shows, apart from the language. */
const contentParameters = ["at", "month", "before"];
const valuePattern = /^[\w:.+-]{1,40}$/;
const pair = `(?:${contentParameters.join("|")}|lang)=(?:[\\w:.-]|%2B){1,60}`;
const returnPattern = new RegExp(`^(/(?:[a-z0-9][a-z0-9./-]*)?)(?:\\?${pair}(?:&${pair}){0,3})?$`);

/** Returns the address to which a visitor returns: the requested path, with the parameters that choose its content. */
export function buildReturnPath(request: Request): string {
  const original = getOriginalRequest(request);
  return contentParameters.reduce((path, name) => {
    const value = readQueryParameter(original, name);
    return value !== null && valuePattern.test(value)
      ? addQuery(path, `?${name}=${value.replaceAll("+", "%2B")}`)
      : path;
  }, pathOf(original));
}

/** Adds a query to a path that can have one. */
export const addQuery = (path: string, query: string): string =>
  path.includes("?") ? path + query.replace("?", "&") : path + query;

/** Returns the chosen language of a path, as a parameter; empty without one. */
export const languageOf = (path: string): string => /[?&](lang=[^&]+)/.exec(path)?.[1] ?? "";

/** Whether a path belongs to the page, so that nothing can redirect elsewhere. */
export function isWithin(home: string, path: string): boolean {
  const [, pathname] = returnPattern.exec(path) ?? [];
  if (pathname === undefined) return false;
  return (
    home === "/" || [home, `${home}.json`].includes(pathname) || pathname.startsWith(`${home}/`)
  );
}
