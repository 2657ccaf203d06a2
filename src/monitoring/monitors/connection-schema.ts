import { z } from "zod";
import { filledSecret, Host, line, ProxyUrl, nullable } from "../../core/fields.ts";
import { pemSchema } from "../../core/security/pem.ts";

/** Whether a proxy username or password has at most 255 bytes (RFC 1929). */
const isShort = (text: string) => new TextEncoder().encode(text).length <= 255;
const tooLongIssue = "must be at most 255 bytes";

/** Fields for the connection of an `http` monitor: client certificate, proxy and choice of address. */
export const connectionFields = {
  clientCertificate: nullable(pemSchema("CERTIFICATE")).meta({
    description: "What the host knows this appliance by, in PEM. Redirects elsewhere don't get it.",
  }),
  clientKey: nullable(pemSchema("PRIVATE KEY").meta({ writeOnly: true })),
  proxyUrl: nullable(ProxyUrl).meta({
    description:
      "Every request goes through it: an HTTP or HTTPS proxy (with CONNECT for https) or a SOCKS5 proxy, which resolves the name of the target. The certificate of an HTTPS proxy is always verified.",
  }),
  proxyUsername: nullable(
    line(255)
      .refine(isShort, tooLongIssue)
      .refine((name) => !name.includes(":"), "must not contain :"),
  ),
  proxyPassword: nullable(
    filledSecret(255).refine(isShort, tooLongIssue).meta({ writeOnly: true }),
  ),
  ipFamily: z.enum(["any", "4", "6"]).default("any").meta({
    description: "Which addresses are connected to, of the target or else of the proxy.",
  }),
  connectTo: nullable(Host).meta({
    description:
      "The address or name to connect to instead of the host of `url`, as a DNS record would; `Host` and the TLS server name do not change.",
  }),
};

/** Removes the proxy credentials if there is no proxy. */
export const dropIdleLogin = (monitor: Record<string, unknown>): Record<string, unknown> =>
  monitor["proxyUrl"] === null ? { ...monitor, proxyUsername: null, proxyPassword: null } : monitor;
