// The renderer is @scalar/api-reference's standalone build, served from the executable.
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
