/** REST routes of contact methods. People manage their own methods; admins and keys manage the methods of everyone. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Delivery } from "../schema.ts";
import {
  ContactMethod,
  ContactMethodPatch,
  ContactMethodQuery,
  ContactOutcome,
  NewContactMethod,
  VerificationCode,
} from "./schema.ts";
import {
  type ContactDependencies,
  createContactMethod,
  deleteContactMethod,
  getContactMethod,
  listContactMethods,
  sendCode,
  testContactMethod,
  updateContactMethod,
  verifyContactMethod,
} from "./service.ts";

const timeoutSeconds = 30;
/** Viewers manage their own contact methods, too. */
const writing = { access: "write", role: "viewer", limited: "people" } as const;

export const createContactMethodRoutes = (dependencies: ContactDependencies) =>
  createRouter("/api/v1/contact-methods")
    .get(
      ...defineEndpoint("/", {
        name: "listContactMethods",
        access: "read",
        limited: "people",
        summary: "List the contact methods of a person",
        description: "Your own by default. Admins and keys can name another person.",
        query: ContactMethodQuery,
        data: z.array(ContactMethod),
        errors: ["NOT_FOUND"],
        handle: ({ scope, query }) => listContactMethods(scope, query),
      }),
    )
    .post(
      ...defineEndpoint("/", {
        ...writing,
        name: "createContactMethod",
        summary: "Create a contact method",
        description: "It is used after it was verified by a code.",
        body: NewContactMethod,
        data: ContactMethod,
        status: 201,
        errors: ["NOT_FOUND", "CONFLICT"],
        handle: ({ scope, body }) => createContactMethod(scope, body),
      }),
    )
    .get(
      ...defineEndpoint("/:id", {
        name: "getContactMethod",
        access: "read",
        limited: "people",
        summary: "Get a contact method",
        data: ContactMethod,
        handle: ({ scope, params }) => getContactMethod(scope, params.id),
      }),
    )
    .patch(
      ...defineEndpoint("/:id", {
        ...writing,
        name: "updateContactMethod",
        summary: "Update a contact method",
        description: "Absent fields keep their value. Another address must be verified again.",
        body: ContactMethodPatch,
        data: ContactMethod,
        errors: ["PRECONDITION_FAILED"],
        handle: ({ scope, params, body }) => updateContactMethod(scope, params.id, body),
      }),
    )
    .delete(
      ...defineEndpoint("/:id", {
        ...writing,
        name: "deleteContactMethod",
        summary: "Delete a contact method",
        response: Deleted,
        errors: ["PRECONDITION_FAILED"],
        handle: ({ scope, params }) => deleteContactMethod(scope, params.id),
      }),
    )
    .post(
      ...defineEndpoint("/:id/code", {
        ...writing,
        name: "sendVerificationCode",
        timeoutSeconds,
        summary: "Send a verification code through a contact method",
        description:
          "Sends six digits, valid for 15 minutes. Earlier codes become invalid. Sends immediately and without retries.",
        data: ContactOutcome,
        handle: ({ scope, params }) => sendCode(scope, dependencies, params.id),
      }),
    )
    .post(
      ...defineEndpoint("/:id/verify", {
        ...writing,
        name: "verifyContactMethod",
        summary: "Verify a contact method by its code",
        description: "After five wrong codes, a new one must be sent.",
        body: VerificationCode,
        data: ContactMethod,
        handle: ({ scope, params, body }) => verifyContactMethod(scope, params.id, body.code),
      }),
    )
    .post(
      ...defineEndpoint("/:id/test", {
        ...writing,
        name: "testContactMethod",
        timeoutSeconds,
        summary: "Send a test alert to a contact method",
        description: "Sends immediately, also before the verification, and without retries.",
        data: Delivery,
        handle: ({ scope, params }) => testContactMethod(scope, dependencies, params.id),
      }),
    );
