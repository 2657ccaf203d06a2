import { z } from "zod";
import { Host, line, ProxyUrl } from "../../core/fields.ts";

const nullable = <T extends z.ZodType>(field: T) => field.nullable().default(null);

const pemBlock = /-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----\s*/g;

/** Text fields and shells lose the line breaks, which OpenSSL needs. */
const withLines = (text: string) =>
  text.replaceAll(pemBlock, (_block, what: string, body: string) => {
    const lines = body.replaceAll(/\s/g, "").match(/.{1,64}/g) ?? [];
    return [`-----BEGIN ${what}-----`, ...lines, `-----END ${what}-----`, ""].join("\n");
  });

export const pem = (what: string) =>
  z
    .string()
    .max(16_384)
    .refine(
      (text) => text.includes(`${what}-----`) && text.trim().replaceAll(pemBlock, "") === "",
      `must be a ${what.toLowerCase()} in PEM`,
    )
    .transform(withLines);

/** As RFC 1929 counts them. */
const proxyLogin = line(255).refine(
  (text) => new TextEncoder().encode(text).length <= 255,
  "must be at most 255 bytes",
);

/** How an `http` monitor gets to what it asks. */
export const connectionFields = {
  clientCertificate: nullable(pem("CERTIFICATE")).meta({
    description: "What the host knows this appliance by, in PEM. Redirects elsewhere don't get it.",
  }),
  clientKey: nullable(pem("PRIVATE KEY").meta({ writeOnly: true })),
  proxyUrl: nullable(ProxyUrl).meta({
    description:
      "Every request goes through it: an HTTP proxy (with CONNECT for https) or a SOCKS5 proxy, which finds the address of the target by itself.",
  }),
  proxyUsername: nullable(proxyLogin.refine((name) => !name.includes(":"), "must not contain :")),
  proxyPassword: nullable(proxyLogin.meta({ writeOnly: true })),
  ipFamily: z.enum(["any", "4", "6"]).default("any").meta({
    description: "Which addresses are connected to, of the target or else of the proxy.",
  }),
  connectTo: nullable(Host).meta({
    description:
      "The address or name to connect to instead of the host of `url`, as a DNS record would; `Host` and the name that TLS asks for stay.",
  }),
};
