import { TextInput, type TextInputProps } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../../language/text.ts";

export type BucketTextName = `s3.${"endpoint" | "region" | "bucket" | "prefix" | "accessKeyId"}`;

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
