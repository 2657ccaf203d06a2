/** Serves the files of the build: hashed ones through `@elysiajs/static`, all others with an ETag. */
import { staticPlugin } from "@elysiajs/static";
import { Elysia } from "elysia";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { selectEncoding, hasTag, addEncodingToTag } from "./encoding.ts";
import { unknownPathError } from "./error-response.ts";
import { createBodyResponse, type Pieces, createSharedBody } from "./large-bodies.ts";

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  webmanifest: "application/manifest+json",
};

const securityHeaders = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    // The library of the API reference sets inline styles by script.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/**
 * Creates a route for the hashed files in `folder`, which clients cache for a year. The build gzipped them, and all
 * clients receive the same bytes, regardless of Accept-Encoding. The first request reads the list of files, because
 * a start has no use for it.
 */
export function createAssetRoutes(folder: string, prefix: `/${string}`): Elysia {
  let files: Promise<ReadonlyMap<string, Response>> | undefined;
  return new Elysia().get(`${prefix}/*`, async ({ path }) => {
    const file = (await (files ??= readAssets(folder, prefix))).get(path);
    if (file === undefined) throw unknownPathError();
    // A clone, because the body of a response can be read only once.
    return file.clone();
  }) as unknown as Elysia;
}

async function readAssets(folder: string, prefix: string): Promise<ReadonlyMap<string, Response>> {
  if (!existsSync(folder)) return new Map();
  const { routes } = await staticPlugin({
    assets: folder,
    prefix,
    alwaysStatic: true,
    etag: false,
    headers: {
      "Cache-Control": "public, max-age=31536000, immutable",
      "Content-Encoding": "gzip",
      ...securityHeaders,
    },
  });
  return new Map(routes.map(({ path, handler }) => [path, handler as unknown as Response]));
}

export type WebFiles = ReturnType<typeof createWebFiles>;

type File = { identity: Blob | Pieces; gzip: Blob | Pieces; etag: string };

/** Serves files without a hash in their names. The build gzipped them. */
export function createWebFiles(folder: string) {
  const files = new Map<string, File>();

  function findFile(name: string): File | null {
    const known = files.get(name);
    if (known !== undefined) return known;
    const gzipped = readGzipped(name);
    if (gzipped === null) return null;
    const file = {
      identity: createSharedBody(Bun.gunzipSync(gzipped)),
      gzip: createSharedBody(gzipped),
      etag: `"${Bun.hash(gzipped).toString(36)}"`,
    };
    files.set(name, file);
    return file;
  }

  function readGzipped(name: string): Buffer<ArrayBuffer> | null {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path) : null;
  }

  return {
    /** Creates the response with a file; null if the file does not exist. */
    serve(request: Request, name: string): Response | null {
      const file = findFile(name);
      if (file === null) return null;
      const encoding = selectEncoding(request, ["gzip"]) === "gzip" ? "gzip" : "identity";
      const etag = addEncodingToTag(encoding, file.etag);
      const headers: Record<string, string> = {
        "Content-Type": types[name.split(".").pop() ?? ""] ?? "application/octet-stream",
        "Cache-Control": "no-cache",
        ...securityHeaders,
        Vary: "Accept-Encoding",
        ETag: etag,
      };
      if (hasTag(request, etag)) return new Response(null, { status: 304, headers });
      if (encoding === "gzip") headers["Content-Encoding"] = encoding;
      return createBodyResponse(file[encoding], { headers });
    },
    /** Reads a file as text; null if it does not exist. */
    text(name: string): string | null {
      const gzipped = readGzipped(name);
      return gzipped && new TextDecoder().decode(Bun.gunzipSync(gzipped));
    },
  };
}
