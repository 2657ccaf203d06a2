/** Returns the address of a path below the page, such as `/history`; of the page itself for an empty path. */
export type LinkTo = (path: string) => string;

/**
 * Creates the links of a page whose path is `base`. On a page that offers several languages, they keep the language.
 */
export function createLinks(base: string, lang: string | null): LinkTo {
  return (path) => {
    const [address = "", fragment] = path.split("#");
    const target = path === ".json" && base === "" ? "/status.json" : `${base}${address}` || "/";
    const query = lang === null ? "" : `${target.includes("?") ? "&" : "?"}lang=${lang}`;
    return `${target}${query}${fragment === undefined ? "" : `#${fragment}`}`;
  };
}
