import { config } from "zod/v4/core";

// The content security policy forbids `eval`, which zod would try for its first object schema.
config({ jitless: true });

/** Nonce of the styles that this page can add by script. It is new in each response. */
export const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";

// Read by libraries that add styles in addition to Mantine's.
Object.assign(globalThis, { __webpack_nonce__: nonce });
