/** Nonce of the styles that this page can add by script. It is new in each response. */
export const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";

Object.assign(globalThis, {
  // Read by libraries that add styles in addition to Mantine's.
  __webpack_nonce__: nonce,
  // The content security policy forbids `eval`, which zod would try for its first object schema.
  // Zod's own function would load a part of zod with the first page.
  __zod_globalConfig: { jitless: true },
});
