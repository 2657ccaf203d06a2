import { z } from "zod";
import { bodySchema, Id, line, Timestamp } from "../../core/fields.ts";

const readOnly = ["id", "createdAt"];

export const NewAccessToken = bodySchema(
  readOnly,
  z
    .strictObject({ name: line(255).meta({ example: "Feed reader of the support team" }) })
    .meta({ id: "NewStatusPageAccessToken" }),
);
export type NewAccessToken = z.infer<typeof NewAccessToken>;

const fields = { id: Id, name: z.string(), createdAt: Timestamp };

/** An access token as the API shows it later. */
export const AccessToken = z.object(fields).meta({
  id: "StatusPageAccessToken",
  description:
    "Opens a status page and everything below it with `?accessToken=TOKEN`, as for a signed-in visitor.",
});
export type AccessToken = z.infer<typeof AccessToken>;

export const CreatedAccessToken = z
  .object({
    ...fields,
    token: z.string().meta({ description: "Shown only once; only its hash is stored." }),
  })
  .meta({ id: "CreatedStatusPageAccessToken" });
export type CreatedAccessToken = z.infer<typeof CreatedAccessToken>;
