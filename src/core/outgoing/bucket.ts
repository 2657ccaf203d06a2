/** Client of S3-compatible buckets, for backups and published status pages. */
import type { XmlElement } from "@rgrove/parse-xml";
import { statSync } from "node:fs";
import { releaseBuffer } from "../system/garbage-collection.ts";
import { exchange, type ShortResponse } from "./http/exchange.ts";
import { TargetFailure } from "./failures.ts";
import { formatStatus } from "./http/response.ts";
import type { TargetGuard } from "../security/target-guard.ts";
import type { Bucket } from "./bucket-schema.ts";

const partBytes = 8 * 1024 * 1024;
/** Objects per page of a listing, so that the response stays below the size limit. */
const namesPerRequest = 100;

/** Timeout and maximum attempts of one request. */
export type RetryOptions = { timeoutMs: number; attempts: number };

/** Defaults. The timeout is long enough to upload a part at 14 kB/s. */
const defaultRetries: RetryOptions = { timeoutMs: 600_000, attempts: 3 };
/** Wait after the first attempt, in milliseconds. Each further wait is four times as long. */
const waitMs = 200;

type Query = Readonly<Record<string, string>>;
type Content = string | Uint8Array | null;
type RequestParameters = [
  method: string,
  key: string,
  query?: Query,
  body?: Content,
  headers?: Readonly<Record<string, string>>,
];

/**
 * Client of an S3-compatible bucket with path-style URLs. Bun's own client would bypass the target
 * guard when it resolves names and follows redirects.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
 */
export class BucketClient {
  readonly #bucket: Bucket;
  readonly #targets: TargetGuard;
  readonly #patience: RetryOptions;

  constructor(bucket: Bucket, targets: TargetGuard, patience: RetryOptions = defaultRetries) {
    this.#bucket = bucket;
    this.#targets = targets;
    this.#patience = patience;
  }

  /** Uploads a file and returns its size in bytes, as the service reports it. */
  async put(key: string, file: string): Promise<number> {
    const { size } = statSync(file);
    if (size > partBytes) await this.#putInParts(key, file, size);
    else await this.#request("PUT", key, {}, await Bun.file(file).bytes());
    const { headers } = await this.#request("HEAD", key);
    const stored = Number(headers.get("content-length"));
    if (stored !== size) throw new Error(`The bucket contains only ${stored} of ${size} bytes.`);
    return size;
  }

  /** Uploads a small object with headers such as its Content-Type. */
  async putObject(key: string, body: Uint8Array, headers: Readonly<Record<string, string>>) {
    await this.#request("PUT", key, {}, body, headers);
  }

  async listKeys(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    let page: Query = {};
    for (;;) {
      const query = { "list-type": "2", "max-keys": String(namesPerRequest), prefix, ...page };
      const { body } = await this.#request("GET", "", query);
      keys.push(...(await extractTexts(body, "Key")));
      const [token] = await extractTexts(body, "NextContinuationToken");
      if (token === undefined) return keys;
      page = { "continuation-token": token };
    }
  }

  async remove(key: string) {
    await this.#request("DELETE", key);
  }

  async #putInParts(key: string, file: string, size: number) {
    const { body } = await this.#request("POST", key, { uploads: "" });
    const [uploadId = ""] = await extractTexts(body, "UploadId");
    try {
      const tags: string[] = [];
      for (let at = 0; at < size; at += partBytes) {
        const part = await Bun.file(file)
          .slice(at, at + partBytes)
          .bytes();
        const query = { partNumber: String(tags.length + 1), uploadId };
        const { headers } = await this.#request("PUT", key, query, part);
        tags.push(headers.get("etag") ?? "");
        releaseBuffer(part);
      }
      // A failure can have status 200, because S3 starts the response before it knows the outcome.
      const response = await this.#request("POST", key, { uploadId }, buildCompletion(tags));
      if ((await extractTexts(response.body, "ETag")).length === 0)
        throw await createBucketError(response);
    } catch (error) {
      await this.#requestOnce("DELETE", key, { uploadId }).catch(() => {});
      throw error;
    }
  }

  /** Sends a request, and repeats it after failures that can be temporary. */
  async #request(...request: RequestParameters): Promise<ShortResponse> {
    const { attempts } = this.#patience;
    for (let attempt = 1; ; attempt++) {
      const response = await this.#requestOnce(...request).catch((error: unknown) => {
        if (attempt === attempts || !(error instanceof TargetFailure) || error.isFinal) throw error;
        return null;
      });
      if (response !== null && (isSuccess(response) || isGone(request[0], response)))
        return response;
      if (response !== null && (attempt === attempts || response.status < 500))
        throw await createBucketError(response);
      await Bun.sleep(waitMs * 4 ** (attempt - 1));
    }
  }

  async #requestOnce(
    ...[method, key, query = {}, body = null, furtherHeaders = {}]: RequestParameters
  ): Promise<ShortResponse> {
    const { bucket, endpoint, region, accessKeyId, secretAccessKey } = this.#bucket;
    const url = new URL(`/${bucket}/${key}`, endpoint);
    url.search = new URLSearchParams(query).toString();
    const { AwsV4Signer } = await import("aws4fetch");
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...furtherHeaders, "X-Amz-Content-Sha256": Bun.SHA256.hash(body ?? "", "hex") },
      accessKeyId,
      secretAccessKey: secretAccessKey ?? "",
      service: "s3",
      region,
    });
    const { headers } = await signer.sign();
    const request = { url, method, headers: Object.fromEntries(headers), body, verifyTls: true };
    return exchange(request, {
      targets: this.#targets,
      timeoutMs: this.#patience.timeoutMs,
      signal: new AbortController().signal,
    });
  }
}

function buildCompletion(tags: readonly string[]): string {
  const parts = tags.map(
    (tag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
}

/** Some services return 404 for an object that was already removed. */
const isGone = (method: string, { status }: ShortResponse) => method === "DELETE" && status === 404;

const isSuccess = ({ status }: ShortResponse) => status >= 200 && status < 300;

/**
 * Creates an error with the service's error code. The service's message is left out, because it can
 * contain anything.
 */
async function createBucketError({ status, body }: ShortResponse): Promise<TargetFailure> {
  const [code = ""] = /^\s*</.test(body) ? await extractTexts(body, "Code") : [];
  const isCode = /^[A-Za-z]{1,60}$/.test(code);
  const redirectHint = status >= 300 && status < 400 ? "; name the final address instead" : "";
  return new TargetFailure(
    `The service answered ${formatStatus(status)}${isCode ? `: ${code}` : ""}${redirectHint}.`,
  );
}

/** Returns the texts of all elements with this name; empty if the text is not XML. */
async function extractTexts(xml: string, name: string): Promise<string[]> {
  const { parseXml } = await import("@rgrove/parse-xml");
  const collectTexts = (element: XmlElement): string[] =>
    element.children.flatMap((child) => {
      if (child.type !== "element") return [];
      const element = child as XmlElement;
      return element.name === name ? [element.text] : collectTexts(element);
    });
  try {
    const { root } = parseXml(xml);
    return root === null ? [] : collectTexts(root);
  } catch {
    return [];
  }
}
