import { config } from "zod/v4/core";

// The page's policy forbids code made from text, which zod would try at its first object.
config({ jitless: true });

/** Names the styles that this page may add by script; the server makes a new one for each answer. */
export const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";

// Read by libraries that add styles beside Mantine's own.
Object.assign(globalThis, { __webpack_nonce__: nonce });
