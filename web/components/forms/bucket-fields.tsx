/** The fields of an S3-compatible bucket, and the part of a request body that they fill. */
import { TextInput, type TextInputProps } from "@mantine/core";
import type { ReactNode } from "react";
import type { ShownBucket } from "../../../src/core/outgoing/bucket-schema.ts";
import { t } from "../../language/text.ts";

type BucketTextName = `s3.${"endpoint" | "region" | "bucket" | "prefix" | "accessKeyId"}`;

/** Values of the fields. Their names are the paths in error responses of the API. */
export const toBucketValues = (s3: ShownBucket | null) => ({
  "s3.endpoint": s3?.endpoint ?? "",
  "s3.region": s3?.region ?? "us-east-1",
  "s3.bucket": s3?.bucket ?? "",
  "s3.prefix": s3?.prefix ?? "",
  "s3.accessKeyId": s3?.accessKeyId ?? "",
  /** Secrets are never sent to the page. Empty leaves the stored one unchanged, null clears it. */
  "s3.secretAccessKey": "" as string | null,
});

/** Builds the part of a request body. Omits a bucket that was never entered. */
export function buildBucketBody(to: string, values: ReturnType<typeof toBucketValues>) {
  const read = (name: BucketTextName) => values[name].trim();
  const secret = values["s3.secretAccessKey"];
  if (to !== "s3" && read("s3.endpoint") === "") return {};
  return {
    s3: {
      endpoint: read("s3.endpoint"),
      region: read("s3.region"),
      bucket: read("s3.bucket"),
      prefix: read("s3.prefix"),
      accessKeyId: read("s3.accessKeyId"),
      ...(secret !== "" && { secretAccessKey: secret }),
    },
  };
}

/** Fields of an S3-compatible bucket. `secret` is the field of the secret access key. */
export function BucketFields({
  createProps,
  prefixExample,
  secret,
}: {
  createProps: (name: BucketTextName) => TextInputProps;
  prefixExample: string;
  secret: ReactNode;
}) {
  const createTextProps = (name: BucketTextName) => ({
    ...createProps(name),
    autoComplete: "off",
    spellCheck: false,
  });
  return (
    <>
      <div className="field-row">
        <TextInput
          label={t("Address")}
          placeholder="https://s3.eu-central-1.amazonaws.com"
          {...createTextProps("s3.endpoint")}
        />
        <TextInput label={t("Region")} {...createTextProps("s3.region")} />
      </div>
      <div className="field-row">
        <TextInput label={t("Bucket")} {...createTextProps("s3.bucket")} />
        <TextInput
          label={t("Prefix")}
          placeholder={prefixExample}
          {...createTextProps("s3.prefix")}
        />
      </div>
      <div className="field-row">
        <TextInput label={t("Access key ID")} {...createTextProps("s3.accessKeyId")} />
        {secret}
      </div>
    </>
  );
}
