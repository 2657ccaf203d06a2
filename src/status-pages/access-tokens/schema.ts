import { z } from "zod";
import { bodySchema, Id, line, Timestamp } from "../../core/fields.ts";

const readOnly = ["id", "createdAt"];

export const NewAccessToken = bodySchema(
  readOnly,
  z
    .strictObject({ name: line(255) })
    .meta({ id: "NewStatusPageAccessToken", example: { name: "Feed reader of the support team" } }),
);
export type NewAccessToken = z.infer<typeof NewAccessToken>;

const fields = { id: Id, name: z.string(), createdAt: Timestamp };
const example = {
  id: "01a1fb99-6d21-7a35-9c4e-3b5d7f9a1c2e",
  name: "Feed reader of the support team",
  createdAt: "2026-11-20T23:02:00.000Z",
};

/** An access token as the API shows it later. */
export const AccessToken = z.object(fields).meta({
  id: "StatusPageAccessToken",
  description:
    "Opens a status page and everything below it with `?accessToken=TOKEN`, as for a signed-in visitor.",
  example,
});
export type AccessToken = z.infer<typeof AccessToken>;

export const CreatedAccessToken = z
  .object({
    ...fields,
    token: z.string().meta({ description: "Shown only once; only its hash is stored." }),
  })
  .meta({
    id: "CreatedStatusPageAccessToken",
    description: "An access token with its value.",
    example: { ...example, token: "sbp_4fJq0Yk1cV7nXw2ZtR8sLb5HgD3mPa6EuC9iTxQyWoB" },
  });
export type CreatedAccessToken = z.infer<typeof CreatedAccessToken>;
