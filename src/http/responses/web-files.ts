import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Encoding, encodingFor, hasTag, tagIn } from "./encoding.ts";
import { bodyResponse, type Pieces, sharedBody } from "./large-bodies.ts";

const types: Record<string, string> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

// The reference page's library sets styles from script; scripts stay ours alone.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export type WebFiles = ReturnType<typeof webFiles>;

/** How long a browser keeps a file: until it changes, or for ever because its name changes with it. */
const caching = (name: string) =>
  name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";

/**
 * Serves what the build put into `folder`, all of it gzipped and mostly as Brotli too:
 * `docs/index.html.gz` answers as `docs/index.html`.
 */
export function webFiles(folder: string) {
  const names = new Set(listed(folder));
  const tags = new Map<string, string>();
  const bodies = new Map<string, Blob | Pieces>();

  /** Of what is in the file, however it is encoded. */
  function tagOf(name: string): string {
    const known = tags.get(name);
    if (known !== undefined) return known;
    const tag = `"${Bun.hash(readFileSync(join(folder, `${name}.gz`))).toString(36)}"`;
    tags.set(name, tag);
    return tag;
  }

  /** The file in an encoding, read once and shared by all responses. */
  function bodyIn(name: string, encoding: Encoding): Blob | Pieces {
    const key = `${encoding} ${name}`;
    const known = bodies.get(key);
    if (known !== undefined) return known;
    const packed = readFileSync(join(folder, `${name}.${encoding === "br" ? "br" : "gz"}`));
    const body = sharedBody(encoding === "identity" ? Bun.gunzipSync(packed) : packed);
    bodies.set(key, body);
    return body;
  }

  return {
    /** The file as a response to this request; null when there is none of that name. */
    serve(request: Request, name: string): Response | null {
      if (!names.has(`${name}.gz`)) return null;
      const encoding = encodingFor(request, names.has(`${name}.br`) ? ["br", "gzip"] : ["gzip"]);
      const etag = tagIn(encoding, tagOf(name));
      const headers: Record<string, string> = {
        "Content-Type": types[name.split(".").pop() ?? ""] ?? "application/octet-stream",
        "Cache-Control": caching(name),
        "Content-Security-Policy": contentSecurityPolicy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        Vary: "Accept-Encoding",
        ETag: etag,
      };
      if (hasTag(request, etag)) return new Response(null, { status: 304, headers });
      if (encoding !== "identity") headers["Content-Encoding"] = encoding;
      return bodyResponse(bodyIn(name, encoding), { headers });
    },
    /** What is in a file; null when there is none of that name. */
    text(name: string): string | null {
      if (!names.has(`${name}.gz`)) return null;
      return new TextDecoder().decode(Bun.gunzipSync(readFileSync(join(folder, `${name}.gz`))));
    },
  };
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true }).map((name) =>
      String(name).replaceAll("\\", "/"),
    );
  } catch {
    return [];
  }
}
