/** The channel types whose receivers are programs. */
import { z } from "zod";
import { isSameOrigin } from "../../../core/security/destinations.ts";
import { Headers, HttpUrl, line, nullable, secret, SigningSecret } from "../../../core/fields.ts";
import { defineChannelKind, describeServer, template } from "./kind-schema.ts";

export const programKinds = {
  webhook: defineChannelKind({
    name: "Webhook",
    summary: "Signed JSON to any URL",
    help: "Sends a POST request with JSON, as described by Standard Webhooks. With a secret, each request is signed.",
    fields: { url: HttpUrl, secret: nullable(SigningSecret), headers: Headers.default({}) },
    labels: {
      url: { label: "URL", placeholder: "http://bot.lan/alerts", mono: true },
      secret: {
        label: "Secret",
        hint: "Signs each request: whsec_ and the Base64 of 24 to 64 bytes.",
        placeholder: "whsec_…",
      },
      headers: { label: "Headers" },
    },
    secrets: { secret: { url: isSameOrigin }, "headers.*": { url: isSameOrigin } },
    address: "url",
  }),
  apprise: defineChannelKind({
    name: "Apprise",
    summary: "A hundred more services",
    help: "Requires an Apprise API server. Save the URLs of your services there under a key and enter the key here, or enter the URLs here.",
    fields: {
      server: HttpUrl,
      key: nullable(
        z.string().regex(/^[-_A-Za-z0-9]{1,128}$/, "must have 1 to 128 letters, digits, - or _"),
      ).meta({
        description:
          "The configuration key of services that are saved on the server, instead of `urls`.",
      }),
      tag: nullable(line(200)).meta({
        description:
          "Only services with these tags: `a, b` means either, `a b` means both. Null for all services of the key.",
      }),
      urls: nullable(secret(4_000)).meta({
        writeOnly: true,
        description: "Apprise URLs, separated by commas, instead of a `key`.",
      }),
      template,
    },
    labels: {
      server: describeServer("http://apprise.lan:8000"),
      key: { label: "Configuration key", hint: "Leave empty if you enter URLs.", mono: true },
      tag: {
        label: "Tags",
        hint: "Only services with these tags: “a, b” means either, “a b” means both. Leave empty for all.",
      },
      urls: {
        label: "Apprise URLs",
        placeholder: "mailto://…, json://…",
        hint: "Instead of a key, separated by commas.",
      },
    },
    secrets: { urls: { server: isSameOrigin } },
    address: "server",
  }),
};
