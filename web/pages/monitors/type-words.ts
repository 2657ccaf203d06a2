/** What people call the types of monitors. */
export const typeWords: Record<string, string> = {
  http: "HTTP",
  tcp: "TCP port",
  ping: "Ping",
  dns: "DNS",
  tls: "Certificate",
  push: "Push",
};
