import { z } from "zod";
import { HttpUrl, line, nullable, secret, toPatchShape } from "../fields.ts";

/** Fields of an S3-compatible bucket with its credentials. */
const bucketFields = {
  endpoint: HttpUrl.refine(
    (text) => /^https?:\/\/[^/?#]+\/?$/i.test(text),
    "must be an address without a path, such as https://s3.eu-central-1.amazonaws.com",
  ),
  region: line(60).default("us-east-1"),
  bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket"),
  /** Prefix of the object names, such as a folder. */
  prefix: z
    .string()
    .max(200)
    .regex(/^(?:[A-Za-z0-9_-][\w.-]*\/)*$/, "must be empty or end with a slash")
    .default(""),
  accessKeyId: line(128),
  secretAccessKey: nullable(secret()),
};

export const Bucket = z.strictObject(bucketFields);
export type Bucket = z.output<typeof Bucket>;

/** A bucket in a PATCH; null removes it. */
export const BucketPatch = z.strictObject(toPatchShape(bucketFields)).nullable().optional();

/** A bucket as the API returns it, without its secret. */
export const ShownBucket = z.object(bucketFields).omit({ secretAccessKey: true });
export type ShownBucket = z.output<typeof ShownBucket>;
