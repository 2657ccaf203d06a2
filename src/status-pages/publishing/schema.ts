/** Wire format of the publication of a status page as static files. */
import { z } from "zod";
import { bodySchema, HttpUrl, nullable, Timestamp, toPatchShape } from "../../core/fields.ts";
import { defineKind } from "../../core/kinds.ts";
import { Bucket, BucketPatch, ShownBucket } from "../../core/outgoing/bucket-schema.ts";
import { createFieldsCheck, isSameOrigin } from "../../core/security/destinations.ts";

const fields = {
  enabled: z.boolean().default(false).meta({
    description:
      "Only pages with the visibility `public` are published, without sections for signed-in people.",
  }),
  to: z.enum(["folder", "s3"]).default("folder").meta({
    description: "`folder` writes to the folder with the slug of the page in `--publish-dir`.",
  }),
  s3: nullable(Bucket),
  url: nullable(HttpUrl).meta({
    example: "https://status.team.example",
    description:
      "Address at which visitors read the files, for the links in feeds. Null for the address of the page here.",
  }),
};

export const publishingKinds = {
  publishing: defineKind(fields, {
    "s3.secretAccessKey": { s3: createFieldsCheck({ endpoint: isSameOrigin }) },
  }),
};

/** The complete settings with their secrets. */
export const PublishingPlan = z.strictObject(fields).superRefine(({ enabled, to, s3 }, context) => {
  const issue = (path: string[]) =>
    context.addIssue({ code: "custom", path, message: "is required" });
  if (!enabled || to !== "s3") return;
  if (s3 === null) issue(["s3"]);
  else if (s3.secretAccessKey === null) issue(["s3", "secretAccessKey"]);
});
export type PublishingPlan = z.output<typeof PublishingPlan>;

const readOnly = [
  "folder",
  "files",
  "publishedAt",
  "failure",
  "removals",
  "secretsSet",
  "updatedAt",
];

const lastFailure = z.object({ since: Timestamp, reason: z.string() }).nullable();

export const PublishingPatch = bodySchema(
  readOnly,
  z
    .strictObject({ ...toPatchShape(fields), s3: BucketPatch })
    .meta({ id: "StatusPagePublishingPatch", example: { url: "https://status.team.example" } }),
);
export type PublishingPatch = z.output<typeof PublishingPatch>;

export const Publishing = z
  .object({
    ...fields,
    s3: ShownBucket.nullable(),
    folder: z.string().nullable().meta({
      description: "Folder of the files on the machine; null without `--publish-dir`.",
    }),
    files: z.int().meta({ description: "Number of files that are published now." }),
    publishedAt: Timestamp.nullable().meta({ description: "The last successful publication." }),
    failure: lastFailure.meta({
      description: "The current failure, which is retried; null after a success.",
    }),
    removals: z
      .array(z.object({ place: z.string(), files: z.int(), failure: lastFailure }))
      .meta({ description: "Earlier places of the page whose files are being removed." }),
    secretsSet: z.array(z.string()),
    updatedAt: Timestamp.nullable(),
  })
  .meta({
    id: "StatusPagePublishing",
    description: "Publication of a status page as static files, which outlive this appliance.",
    example: {
      enabled: true,
      to: "s3",
      s3: {
        endpoint: "https://s3.eu-central-1.amazonaws.com",
        region: "eu-central-1",
        bucket: "team-status",
        prefix: "",
        accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      },
      url: "https://status.team.example",
      folder: null,
      files: 34,
      publishedAt: "2026-11-20T23:02:00.000Z",
      failure: null,
      removals: [],
      secretsSet: ["s3.secretAccessKey"],
      updatedAt: "2026-11-20T22:00:00.000Z",
    },
  });
export type Publishing = z.infer<typeof Publishing>;
