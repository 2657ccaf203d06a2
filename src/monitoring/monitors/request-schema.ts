import { z } from "zod";
import { HttpUrl, line, secret } from "../../core/fields.ts";

const nullable = <T extends z.ZodType>(field: T) => field.nullable().default(null);

export const wellFormed = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.isWellFormed(), "must be valid Unicode, without lone surrogates");

export const Method = z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export const bodyTypes = ["text", "json", "form", "multipart"] as const;
export const BodyType = z.enum(bodyTypes).meta({
  description:
    "What is sent: `body` as it is, `body` as JSON, or `form` as application/x-www-form-urlencoded or as multipart/form-data. Each but `text` sets the Content-Type.",
});

export const Body = wellFormed(64 * 1024);

const FormField = z
  .strictObject({
    name: line(255),
    value: wellFormed(16 * 1024).default(""),
    fileName: nullable(line(255)).meta({ description: "Sends the value as a file; multipart." }),
    contentType: nullable(
      z
        .string()
        .max(100)
        .regex(/^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/, "must be a type such as text/plain"),
    ).meta({ description: "What the value is; multipart." }),
  })
  .meta({ id: "FormField" });
export type FormField = z.infer<typeof FormField>;

export const Form = z
  .array(FormField)
  .max(50)
  .meta({ example: [{ name: "q", value: "health", fileName: null, contentType: null }] });

/** What the client credentials grant takes (RFC 6749 §4.4). */
export const oauth2Fields = {
  tokenUrl: HttpUrl.meta({ example: "https://login.example/oauth2/token" }),
  clientId: line(255),
  scope: nullable(line(1000)).meta({ description: "Several are separated by spaces." }),
  audience: nullable(line(1000)),
  clientAuthentication: z.enum(["header", "body"]).default("header").meta({
    description: "Where the client id and secret are sent (RFC 6749 §2.3.1).",
  }),
};

export const OAuth2 = z.strictObject({
  ...oauth2Fields,
  clientSecret: secret(4096).nullable().optional(),
});
export type OAuth2 = z.infer<typeof OAuth2>;
