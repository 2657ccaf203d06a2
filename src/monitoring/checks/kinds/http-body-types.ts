import { createToken } from "../../../core/ids.ts";
import type { FormField } from "../../monitors/request-schema.ts";

type BodySettings = {
  bodyType: "text" | "json" | "form" | "multipart";
  body: string | null;
  form: readonly FormField[];
};

type Encoded = { body: string | null; contentType: string | null };

/** Encodes the body of a request and returns the matching Content-Type. */
export function encodeBody({ bodyType, body, form }: BodySettings): Encoded {
  switch (bodyType) {
    case "text":
      return { body, contentType: null };
    case "json":
      return { body, contentType: body === null ? null : "application/json" };
    case "form":
      return {
        body: new URLSearchParams(form.map(({ name, value }) => [name, value])).toString(),
        contentType: "application/x-www-form-urlencoded",
      };
    case "multipart":
      return encodeMultipart(form);
  }
}

/** Encodes a form: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
function encodeMultipart(form: readonly FormField[]): Encoded {
  const boundary = `signalbox-${createToken(32)}`;
  const parts = form.map(({ name, value, fileName, contentType }) => {
    const file = fileName === null ? "" : `; filename="${escapeQuotes(fileName)}"`;
    const type = contentType ?? (fileName === null ? null : "application/octet-stream");
    return [
      `--${boundary}`,
      `Content-Disposition: form-data; name="${escapeQuotes(name)}"${file}`,
      ...(type === null ? [] : [`Content-Type: ${type}`]),
      "",
      value,
      "",
    ].join("\r\n");
  });
  return {
    body: `${parts.join("")}--${boundary}--\r\n`,
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** Escapes quotation marks. The schema rejects line breaks, which would end the header. */
const escapeQuotes = (text: string) => text.replaceAll('"', "%22");
