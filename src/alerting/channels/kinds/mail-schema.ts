/** The channel types that send mail. */
import { z } from "zod";
import { EmailAddress } from "../../../core/fields.ts";
import { defineChannelKind, template } from "./kind-schema.ts";

export const mailKinds = {
  email: defineChannelKind({
    name: "E-mail",
    summary: "Through your own mail server",
    help: "Sent through the mail server in Settings. Press Enter after each address.",
    fields: { to: z.array(EmailAddress).min(1).max(50), template },
    labels: {
      to: { label: "To", hint: "Up to 50 addresses. All of them receive the same e-mail." },
    },
    address: null,
  }),
};
