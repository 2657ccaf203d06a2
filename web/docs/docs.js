/** Adds ARIA names, roles and states that the API reference renderer omits. */
new MutationObserver(() => {
  for (const button of document.querySelectorAll(".scalar-code-copy:not([aria-label])"))
    button.setAttribute("aria-label", "Copy");
  for (const group of document.querySelectorAll("[role=listbox] > [aria-labelledby]:not([role])"))
    group.setAttribute("role", "group");
  for (const field of document.querySelectorAll("input[role=combobox]:not([aria-label])")) {
    field.setAttribute("aria-label", field.placeholder || "Search");
    field.setAttribute("aria-expanded", "true");
  }
  // Panels open outside all landmarks, and are surrounded by two unnamed focus guards.
  for (const panel of document.querySelectorAll("[id^=headlessui-popover-panel]:not([role])")) {
    panel.setAttribute("role", "region");
    panel.setAttribute("aria-label", "Choices");
  }
  for (const guard of document.querySelectorAll("[data-headlessui-focus-guard][aria-hidden]")) {
    guard.removeAttribute("aria-hidden");
    guard.setAttribute("aria-label", "Leave the choices");
  }
  // Hides the choice of an authentication method, because there is only one.
  for (const button of document.querySelectorAll("[class~='group/combobox-button']"))
    if (button.textContent.startsWith("Selected Auth Type")) button.style.display = "none";
}).observe(document.body, { childList: true, subtree: true });

// The renderer is the standalone build of @scalar/api-reference, served by the executable.
Scalar.createApiReference("#reference", {
  url: "/api/v1/openapi.json",
  theme: "none",
  withDefaultFonts: false,
  telemetry: false,
  orderSchemaPropertiesBy: "preserve",
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  metaData: { title: "Signalbox API reference" },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
});
