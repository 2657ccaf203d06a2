import { z } from "zod";

const block = /-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----\s*/g;

/** Text fields and shells lose the line breaks, which OpenSSL needs. */
const withLines = (text: string) =>
  text.replaceAll(block, (_block, what: string, body: string) => {
    const lines = body.replaceAll(/\s/g, "").match(/.{1,64}/g) ?? [];
    return [`-----BEGIN ${what}-----`, ...lines, `-----END ${what}-----`, ""].join("\n");
  });

/** One or several blocks of a kind, such as CERTIFICATE (RFC 7468); whether they can be used shows when they are. */
export const pem = (what: string, maxLength = 16_384) =>
  z
    .string()
    .max(maxLength)
    .refine(
      (text) => text.includes(`${what}-----`) && text.trim().replaceAll(block, "") === "",
      `must be a ${what.toLowerCase()} in PEM`,
    )
    .transform(withLines);
