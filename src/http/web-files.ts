import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

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

export type WebFiles = {
  /** The file as an answer to this request; null when there is none of that name. */
  answer(request: Request, name: string): Response | null;
  /** What is in a file; null when there is none of that name. */
  text(name: string): string | null;
};

/** How long a browser keeps a file: until it changes, or for ever because its name changes with it. */
const caching = (name: string) =>
  name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";

/**
 * Serves what the build put into `folder`, all of it gzipped and mostly as Brotli too:
 * `docs/index.html.gz` answers as `docs/index.html`.
 */
export function webFiles(folder: string): WebFiles {
  const names = new Set(listed(folder));
  const etags = new Map<string, string>();
  return {
    answer(request, name) {
      if (!names.has(`${name}.gz`)) return null;
      const accepted = request.headers.get("accept-encoding") ?? "";
      const brotli = names.has(`${name}.br`) && /\bbr\b/.test(accepted);
      const bytes = readFileSync(join(folder, `${name}.${brotli ? "br" : "gz"}`));
      const etag = etags.get(name) ?? `"${Bun.hash(bytes).toString(36)}"`;
      etags.set(name, etag);
      const headers: Record<string, string> = {
        "Content-Type": types[name.split(".").pop() ?? ""] ?? "application/octet-stream",
        "Cache-Control": caching(name),
        "Content-Security-Policy": contentSecurityPolicy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        Vary: "Accept-Encoding",
        ETag: etag,
      };
      if (request.headers.get("if-none-match")?.replace(/^W\//, "") === etag)
        return new Response(null, { status: 304, headers });
      if (brotli) return new Response(bytes, { headers: { ...headers, "Content-Encoding": "br" } });
      if (/\bgzip\b/.test(accepted))
        return new Response(bytes, { headers: { ...headers, "Content-Encoding": "gzip" } });
      return new Response(Bun.gunzipSync(bytes), { headers });
    },
    text(name) {
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
