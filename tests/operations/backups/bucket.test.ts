import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { BucketClient } from "../../../src/core/outgoing/bucket.ts";
import { startBucketService, defineTestWith } from "../../support/real-targets.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { replyWith, replyWithRedirect, startTarget } from "../../support/target.ts";

const newDirectory = createScratch();
const targets = createTargetGuard(() => []);
const megabyte = 1024 * 1024;

const buildBucket = (endpoint: string) => ({
  endpoint,
  region: "us-east-1",
  bucket: "backups",
  prefix: "",
  accessKeyId: "backup",
  secretAccessKey: "a-secret-access-key",
});

async function writeRandomFile(bytes: number) {
  const file = join(newDirectory(), "copy");
  const content = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 65_536)
    crypto.getRandomValues(content.subarray(at, at + 65_536));
  await Bun.write(file, content);
  return { file, content };
}

defineTestWith(
  ["moto_server"],
  "a file of several parts arrives unchanged, and many files are listed",
  async () => {
    await using service = await startBucketService("backups");
    const bucket = new BucketClient(buildBucket(service.endpoint), targets);
    const { file, content } = await writeRandomFile(17 * megabyte);
    expect(await bucket.put("box/large.db", file)).toBe(content.length);
    expect(content.equals(await service.client.file("box/large.db").bytes())).toBe(true);
    const names = Array.from(
      { length: 120 },
      (_, index) => `box/${String(index).padStart(3, "0")}`,
    );
    await Promise.all(names.map((name) => service.client.write(name, "x")));
    await service.client.write("other/x", "y");
    expect(await bucket.listKeys("box/")).toEqual([...names, "box/large.db"]);
    await bucket.remove("box/large.db");
    expect(await bucket.listKeys("box/l")).toEqual([]);
  },
);

test("each request is signed, including its content", async () => {
  await using service = await startTarget(replyWith(200, "<ListBucketResult/>"));
  const { file, content } = await writeRandomFile(100);
  const bucket = new BucketClient(buildBucket(service.at("")), targets);
  await bucket.listKeys("box/");
  await bucket.put("box/a", file).catch(() => {});
  await bucket.putObject("box/page", content, { "Content-Type": "text/html; charset=utf-8" });
  const [listing, putting] = service.asked;
  const object = service.asked.at(-1);
  for (const [request, bytes] of [
    [listing, ""],
    [putting, content],
    [object, content],
  ] as const) {
    const { method = "", path = "", headers = {} } = request ?? {};
    expect(headers["x-amz-content-sha256"]).toBe(new Bun.SHA256().update(bytes).digest("hex"));
    expect(headers.authorization).toBe(signRequest(method, path, headers));
  }
});

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function signRequest(method: string, path: string, headers: IncomingHttpHeaders): string {
  const [before, query = ""] = path.split("?");
  const signed = ["host", "x-amz-content-sha256", "x-amz-date"];
  const date = String(headers["x-amz-date"]);
  const scope = `${date.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const canonical = [
    method,
    before,
    query.split("&").toSorted().join("&"),
    ...signed.map((name) => `${name}:${String(headers[name])}`),
    "",
    signed.join(";"),
    headers["x-amz-content-sha256"],
  ].join("\n");
  const hash = new Bun.SHA256().update(canonical).digest("hex");
  const computeHmac = (key: string | Buffer, text: string) =>
    createHmac("sha256", key).update(text).digest();
  const key = scope.split("/").reduce<string | Buffer>(computeHmac, "AWS4a-secret-access-key");
  const signature = computeHmac(key, ["AWS4-HMAC-SHA256", date, scope, hash].join("\n")).toString(
    "hex",
  );
  return `AWS4-HMAC-SHA256 Credential=backup/${scope}, SignedHeaders=${signed.join(";")}, Signature=${signature}`;
}

describe("a service", () => {
  const list = replyWith(
    200,
    "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
  );

  test("that redirects is never followed", async () => {
    await using elsewhere = await startTarget(list);
    await using service = await startTarget(replyWithRedirect(elsewhere.at("/backups/"), 307));
    const { file } = await writeRandomFile(10);
    const bucket = new BucketClient(buildBucket(service.at("")), targets);
    const reason =
      "The service answered HTTP 307 (Temporary Redirect); name the final address instead.";
    for (const request of [
      () => bucket.listKeys(""),
      () => bucket.put("a", file),
      () => bucket.remove("a"),
    ])
      expect(await request().catch(({ message }: Error) => message)).toBe(reason);
    expect(elsewhere.asked).toEqual([]);
  });

  test("with a temporary error is retried; one that rejects is not", async () => {
    let count = 0;
    await using service = await startTarget((response) =>
      (++count === 1 ? replyWith(503, "<Error><Code>SlowDown</Code></Error>") : list)(response),
    );
    const bucket = new BucketClient(buildBucket(service.at("")), targets);
    expect(await bucket.listKeys("")).toEqual(["a"]);
    await using refusing = await startTarget(
      replyWith(403, "<Error><Code>AccessDenied</Code><Message>CANARY</Message></Error>"),
    );
    const refused = new BucketClient(buildBucket(refusing.at("")), targets).listKeys("");
    expect(await refused.catch(({ message }: Error) => message)).toBe(
      "The service answered HTTP 403 (Forbidden): AccessDenied.",
    );
    expect([count, refusing.asked.length]).toEqual([2, 1]);
  });

  test("that rejects a part, or reports an error in a 200, retains no parts", async () => {
    const { file } = await writeRandomFile(9 * megabyte);
    for (const fails of ["part", "whole"]) {
      const requests: string[] = [];
      const service = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        async fetch(request) {
          const { searchParams } = new URL(request.url);
          requests.push(`${request.method} ${[...searchParams.keys()].join(" ")}`);
          await request.bytes();
          if (searchParams.has("uploads"))
            return new Response("<Result><UploadId>7</UploadId></Result>");
          if (request.method === "PUT" && fails === "part")
            return new Response("", { status: 400 });
          if (request.method === "PUT") return new Response("", { headers: { etag: '"1"' } });
          return new Response("<Error><Code>InternalError</Code></Error>");
        },
      });
      const put = new BucketClient(buildBucket(service.url.origin), targets).put("a", file);
      expect(await put.catch(({ message }: Error) => message)).toMatch(
        fails === "part" ? /HTTP 400/ : /HTTP 200 \(OK\): InternalError/,
      );
      expect(requests.at(-1)).toBe("DELETE uploadId");
      await service.stop(true);
    }
  });
});
