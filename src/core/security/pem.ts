/** Extracts and normalizes certificates and keys in PEM. */
import { createLookup } from "../collections/objects.ts";
import { z } from "zod";

const blockPattern = /-----BEGIN ([^-\r\n]+)-----([^-]*)-----END \1-----/g;
const base64Pattern = /^[A-Za-z0-9+/]+={0,2}$/;

/** Current labels by their obsolete names (RFC 7468 §5.1, §13). */
const synonyms: Readonly<Record<string, string>> = createLookup({
  "X509 CERTIFICATE": "CERTIFICATE",
  "X.509 CERTIFICATE": "CERTIFICATE",
});
/** Label of a block that some tools write before a key. */
const parametersLabel = "EC PARAMETERS";

type Block = { label: string; body: string };

/** Returns the PEM blocks of a text. Ignores indentation and other text (RFC 7468 §2). */
const parseBlocks = (text: string): Block[] =>
  [...text.matchAll(blockPattern)].map(([, label = "", body = ""]) => ({
    label: synonyms[label] ?? label,
    body: body.replaceAll(/\s/g, ""),
  }));

/** Formats a block with the line breaks that OpenSSL requires. Text fields and shells can lose them. */
const formatBlock = ({ label, body }: Block) =>
  [
    `-----BEGIN ${label}-----`,
    ...(body.match(/.{1,64}/g) ?? []),
    `-----END ${label}-----`,
    "",
  ].join("\n");

/**
 * Reduces a text to its PEM blocks, in the format of OpenSSL. Returns a text without blocks, or with a damaged block,
 * unchanged.
 */
export function normalizePem(text: string): string {
  const blocks = parseBlocks(text);
  const isWhole = blocks.every(({ body }) => base64Pattern.test(body)) && !hasCutBlock(text);
  return blocks.length > 0 && isWhole ? blocks.map(formatBlock).join("") : text;
}

const hasCutBlock = (text: string) => text.replaceAll(blockPattern, "").includes("-----BEGIN ");

const isOfKind = (kind: string, { label }: Block) =>
  kind === "PRIVATE KEY" ? /^(?:[A-Z0-9]+ )*PRIVATE KEY$/.test(label) : label === kind;

/** Returns the error if a text is not a list of such blocks, as the end of a sentence; null if it is. */
function findPemIssue(kind: string, text: string): string | null {
  const blocks = parseBlocks(text).filter(({ label }) => label !== parametersLabel);
  const other = blocks.find((one) => !isOfKind(kind, one));
  if (other?.label === "TRUSTED CERTIFICATE")
    return "must have the label CERTIFICATE, not TRUSTED CERTIFICATE: `openssl x509 -in FILE` converts it";
  if (other !== undefined && isOfKind("PRIVATE KEY", other) && blocks.length > 1)
    return `must be a ${kind.toLowerCase()} alone: it contains a private key`;
  const isWhole = blocks.length > 0 && blocks.every(({ body }) => base64Pattern.test(body));
  const isCut = hasCutBlock(text) || !/-\s*$/.test(text);
  return other === undefined && isWhole && !isCut ? null : `must be a ${kind.toLowerCase()} in PEM`;
}

/** One or several PEM blocks with a label such as CERTIFICATE (RFC 7468). Their content is not verified here. */
export const pemSchema = (kind: string, maxLength = 16_384) =>
  z
    .string()
    .max(maxLength)
    .superRefine((text, context) => {
      const issue = findPemIssue(kind, text);
      if (issue !== null) context.addIssue({ code: "custom", message: issue });
    })
    .transform((text) =>
      parseBlocks(text)
        .filter((one) => isOfKind(kind, one))
        .map(formatBlock)
        .join(""),
    );
