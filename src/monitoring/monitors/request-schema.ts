/** Schema of the requests of an `http` monitor: body, conditions on the response, saved values and steps. */
import { z } from "zod";
import {
  placeholderNameIssue,
  HttpUrl,
  line,
  placeholderName,
  filledSecret,
  ShownHeaders,
  nullable,
} from "../../core/fields.ts";
import { formatPlaceholders } from "../../core/text/formatting.ts";
import { findFirstIssue } from "../../core/validation.ts";
import { Assertions, assertionSources, JsonPath } from "./assertions-schema.ts";
import {
  isJson,
  isJsonTemplate,
  hasHostPlaceholder,
  listPlaceholderNames,
} from "../../core/text/placeholders.ts";

export const createWellFormedText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.isWellFormed(), "must be valid Unicode, without lone surrogates");

export const Method = z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

const bodyTypes = ["text", "json", "form", "multipart"] as const;
export const BodyType = z.enum(bodyTypes).meta({
  description:
    "Content of the request: `body` unchanged, `body` as JSON, or `form` as application/x-www-form-urlencoded or as multipart/form-data. Each but `text` sets the Content-Type.",
});

export const Body = createWellFormedText(64 * 1024);

const FormField = z
  .strictObject({
    name: line(255),
    value: createWellFormedText(16 * 1024).default(""),
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

/** Parameters of the client credentials grant (RFC 6749 §4.4). */
export const oauth2Fields = {
  tokenUrl: HttpUrl.meta({ example: "https://login.example/oauth2/token" }),
  clientId: line(255),
  scope: nullable(line(1000)).meta({ description: "Several are separated by spaces." }),
  audience: nullable(line(1000)),
  clientAuthentication: z.enum(["header", "body"]).default("header").meta({
    description: "Where the client id and secret are sent (RFC 6749 §2.3.1).",
  }),
};

const { tokenUrl, clientId, ...otherFields } = oauth2Fields;
export const OAuth2 = z.strictObject({
  tokenUrl,
  clientId,
  clientSecret: filledSecret(4096).nullable().optional(),
  ...otherFields,
});
export type OAuth2 = z.infer<typeof OAuth2>;

const statusRange = z
  .string()
  .regex(/^[1-9]\d\d(-[1-9]\d\d)?$/, "must be a status or a range, such as 204 or 200-299");
export const ExpectedStatus = z
  .array(
    statusRange.refine((range) => {
      const [from, to = from] = range.split("-");
      return Number(from) <= Number(to);
    }, "must not end before it begins"),
  )
  .min(1)
  .max(20)
  .meta({ example: ["200-299", "401"] });

const maxExpression = 500;

export const Save = z
  .array(
    z
      .strictObject({
        name: z.string().regex(placeholderName, placeholderNameIssue),
        source: z.enum(["json", "header", "body"]),
        path: nullable(createWellFormedText(500)).meta({
          description: "The path of a value in `json`, or the name of a `header`.",
        }),
        expression: nullable(createWellFormedText(maxExpression)).meta({
          description:
            "A regular expression in RE2 syntax. Its first group is saved, or the whole match without a group.",
        }),
      })
      .superRefine(({ source, path }, context) => {
        const addIssue = (message: string) =>
          context.addIssue({ code: "custom", path: ["path"], message });
        const known = assertionSources[source].path;
        if (known === null && path !== null)
          addIssue("must be null or left out: body has no parts");
        const issue = known === null ? null : findFirstIssue(known, path ?? "");
        if (issue !== null) addIssue(issue.message);
      })
      .meta({ id: "SavedValue" }),
  )
  .max(10)
  .meta({
    description:
      "Values of the response that later steps use as `{{name}}`. They are never shown or stored.",
    example: [{ name: "token", source: "json", path: "$.token", expression: null }],
  });
export type Save = z.infer<typeof Save>;

/** Conditions on the response, for the first request and for each step. */
export const conditionFields = {
  expectedStatus: ExpectedStatus.default(["200-299"]),
  keyword: nullable(line(1000)).meta({ description: "Text that the response must contain." }),
  keywordAbsent: nullable(line(1000)).meta({
    description: "Text that the response must not contain.",
  }),
  jsonPath: nullable(JsonPath),
  jsonEquals: nullable(z.union([line(1000), z.number(), z.boolean()])).meta({
    description: "Expected value at `jsonPath`; null accepts any value.",
  }),
  assertions: Assertions.default([]),
};

const StepUrl = z
  .string()
  .max(2048)
  .superRefine((text, context) => {
    const issue = (message: string) => context.addIssue({ code: "custom", message });
    if (hasHostPlaceholder(text)) return issue("must not have a placeholder before its path");
    if (/^[/\\]{2}/.test(text)) return issue("must be a path, or begin with http:// or https://");
    const absoluteUrl = text.startsWith("/") ? `http://host${text}` : text;
    const found = findFirstIssue(HttpUrl, absoluteUrl);
    if (found !== null) issue(found.message);
  })
  .meta({
    description: "A URL, or a path of the monitor's own origin.",
    example: "/cart?user={{user}}",
  });

export const Step = z
  .strictObject({
    name: nullable(line(100)),
    url: StepUrl,
    method: Method.default("GET"),
    headers: ShownHeaders.default({}),
    bodyType: BodyType.default("text"),
    body: nullable(Body),
    form: Form.default([]),
    ...conditionFields,
    save: Save.default([]),
  })
  .meta({ id: "Step" });
export type Step = z.infer<typeof Step>;

/** Maximum further requests per check. With the first request, a check sends at most ten. */
export const maxSteps = 9;

export const Steps = z.array(Step).max(maxSteps).meta({
  description:
    "Further requests, one after the other, within the one timeout. `{{name}}` inserts a variable or a saved value into URL, headers and body. Credentials and headers of the monitor are sent to its own origin alone.",
});

type Part = Omit<Step, "name">;
/** The requests of an `http` monitor: the first request and its steps. */
export type HttpRequests = Part & {
  variables: Record<string, string>;
  steps: readonly Step[];
  number: object | null;
};

/** Whether responses with the expected statuses never have a body (RFC 9110 §6.4.1). */
const isBodiless = ({ expectedStatus }: Pick<Part, "expectedStatus">) =>
  expectedStatus.every((range) => /^(?:1\d\d(?:-1\d\d)?|204(?:-204)?|304(?:-304)?)$/.test(range));

/** Explains why a response has no body; null if it can have one. */
function explainMissingBody(part: Part): string | null {
  if (part.method === "HEAD") return "a response to HEAD has no body. Use GET";
  return isBodiless(part) ? "a response with the expected status has no body" : null;
}

/** Finds conditions on the body of a response that has none. They would always fail or always hold. */
function listBodilessIssues(part: Part): { keys: (string | number)[]; message: string }[] {
  const issue = explainMissingBody(part);
  if (issue === null) return [];
  const message = `must not be about the body: ${issue}`;
  const shorthandNames = (["keyword", "keywordAbsent", "jsonPath"] as const).filter(
    (name) => part[name] !== null,
  );
  const isBody = ({ source }: { source: string }) => source === "body" || source === "json";
  const listBodyIssues = (name: string, list: readonly { source: string }[]) =>
    list.flatMap((one, index) => (isBody(one) ? [{ keys: [name, index, "source"], message }] : []));
  return [
    ...shorthandNames.map((name) => ({ keys: [name], message })),
    ...listBodyIssues("assertions", part.assertions),
    ...listBodyIssues("save", part.save),
  ];
}

type RequestIssue = { path: (string | number)[]; message: string };

/** Finds problems that involve several fields, such as an unknown placeholder or a body that is not of its type. */
export function listRequestIssues(monitor: HttpRequests): RequestIssue[] {
  const issues: RequestIssue[] = [];
  const known = new Set(Object.keys(monitor.variables));
  const withoutNumber = explainMissingBody(monitor.steps.at(-1) ?? monitor);
  if (monitor.number !== null && withoutNumber !== null)
    issues.push({ path: ["number"], message: `must be null: ${withoutNumber}` });
  for (const [index, part] of [monitor, ...monitor.steps].entries()) {
    const issue = (message: string, ...keys: (string | number)[]) =>
      issues.push({ path: index === 0 ? keys : ["steps", index - 1, ...keys], message });
    const { url, headers, bodyType, body, form, jsonPath, jsonEquals, save } = part;
    const hasNames = index > 0 || known.size > 0;
    const isBodyJson = hasNames ? isJsonTemplate : isJson;
    if (bodyType === "json" && body !== null && !isBodyJson(body))
      issue("must be JSON, because bodyType is json", "body");
    const hasForm = bodyType === "form" || bodyType === "multipart";
    if (!hasForm && body === null && form.length > 0)
      issue("is sent only with bodyType form or multipart: choose one, or remove form", "form");
    if (hasForm && body !== null && form.length === 0)
      issue("is sent only with bodyType text or json: choose one, or remove body", "body");
    if (jsonPath === null && jsonEquals !== null)
      issue("is required where jsonEquals is given", "jsonPath");
    for (const { keys, message } of listBodilessIssues(part)) issue(message, ...keys);
    const reportUnknownNames = (text: string, ...keys: (string | number)[]) => {
      if (listPlaceholderNames(text).every((name) => known.has(name))) return;
      const others = formatPlaceholders([...known]).join(", ");
      issue(
        others === ""
          ? "must have no placeholders: there are no variables, and nothing is saved before"
          : `must use no other placeholders than ${others}`,
        ...keys,
      );
    };
    if (hasNames) {
      reportUnknownNames(url, "url");
      reportUnknownNames(body ?? "", "body");
      for (const value of Object.values(headers)) reportUnknownNames(value, "headers");
      for (const [at, { value }] of form.entries()) reportUnknownNames(value, "form", at, "value");
      if (index === 0 && hasHostPlaceholder(url))
        issue("must not have a placeholder before its path", "url");
    }
    for (const [at, { name }] of save.entries()) {
      if (known.has(name))
        issue("must be a name that no variable or other saved value has", "save", at, "name");
      known.add(name);
    }
  }
  return issues;
}
