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
};

/** Serves what the build put into `folder`, all of it gzipped: `docs/index.html.gz` answers as `docs/index.html`. */
export function webFiles(folder: string): WebFiles {
  const files = new Map(
    listed(folder).map((name) => [name.replace(/\.gz$/, ""), join(folder, name)] as const),
  );
  const etags = new Map<string, string>();
  return {
    answer(request, name) {
      const file = files.get(name);
      if (file === undefined) return null;
      const gzipped = readFileSync(file);
      const etag = etags.get(name) ?? `"${Bun.hash(gzipped).toString(36)}"`;
      etags.set(name, etag);
      const headers: Record<string, string> = {
        "Content-Type": types[name.split(".").pop() ?? ""] ?? "application/octet-stream",
        "Cache-Control": "no-cache",
        "Content-Security-Policy": contentSecurityPolicy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        Vary: "Accept-Encoding",
        ETag: etag,
      };
      if (request.headers.get("if-none-match")?.replace(/^W\//, "") === etag)
        return new Response(null, { status: 304, headers });
      if (!/\bgzip\b/.test(request.headers.get("accept-encoding") ?? ""))
        return new Response(Bun.gunzipSync(gzipped), { headers });
      return new Response(gzipped, { headers: { ...headers, "Content-Encoding": "gzip" } });
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
