/** Renders and reads the form in which subscribers choose their notices. */
import { subscriberBounds } from "../../core/limits.ts";
import type { Severity } from "../../core/fields.ts";
import type { PageLanguage } from "../../core/languages.ts";
import { severities } from "../../core/statuses.ts";
import { nameLanguage } from "../languages/catalog.ts";
import type { Language } from "../languages/language.ts";
import type { LoadedPage } from "../load.ts";
import type { SubscriberChoice } from "./schema.ts";

type Choice = SubscriberChoice;
type Section = LoadedPage["components"][number];

export type ChoiceForm = {
  title: string;
  address: string;
  language: Language;
  choice: Choice;
  sections: readonly Section[];
  /** Languages to choose from; the first one is used until the subscriber chooses. */
  offered: readonly PageLanguage[];
  /** Whether the subscriber can choose a weekly summary. */
  takesDigests: boolean;
  /** Result of the last submission as a sentence; null before it. */
  result: { text: string; isError: boolean } | null;
};

type FormWord =
  Severity | "whatYouGet" | "lowestSeverity" | "whichSystems" | "howOften" | "save" | "unsubscribe";

/** Renders the form as HTML. Its buttons save the choice, or unsubscribe. */
export function renderChoiceForm({
  title,
  address,
  language,
  result,
  ...form
}: ChoiceForm): string {
  const { choice, sections, offered, takesDigests } = form;
  const translate = (key: FormWord) => escapeHtml(language.translate(key));
  const isAll = choice.components === null;
  return `<form class="lock choice" method="post">
<h1>${escapeHtml(language.translate("updatesFrom", { title }))}</h1>
<p>${escapeHtml(language.translate("areSent", { address }))}</p>
${result === null ? "" : `<p role="${result.isError ? "alert" : "status"}"${result.isError ? ' class="error"' : ""}>${escapeHtml(result.text)}</p>`}
<fieldset><legend>${translate("whatYouGet")}</legend>
${renderBox("checkbox", "incidents", "1", choice.incidents, language.translate("incidents"))}
<label class="pick">${translate("lowestSeverity")} <select name="severity">${severities
    .map(
      (one) =>
        `<option value="${one}"${one === choice.minimumSeverity ? " selected" : ""}>${translate(one)}</option>`,
    )
    .join("")}</select></label>
${renderBox("checkbox", "maintenance", "1", choice.maintenance, language.translate("maintenanceWork"))}
</fieldset>
<fieldset><legend>${translate("whichSystems")}</legend>
${renderBox("radio", "components", "all", isAll, language.translate("wholePage"))}
${
  sections.length === 0
    ? ""
    : `${renderBox("radio", "components", "some", !isAll, language.translate("onlyThese"))}
${sections.map((section) => renderSection(section, choice, language)).join("\n")}`
}
</fieldset>
${takesDigests ? renderFrequency(choice, language) : ""}
${offered.length > 1 ? renderLanguages(offered, choice, language) : ""}
<button name="do" value="save">${translate("save")}</button>
<button name="do" value="unsubscribe" class="quiet">${translate("unsubscribe")}</button>
</form>`;
}

function renderFrequency({ frequency }: Choice, language: Language) {
  return `<fieldset><legend>${escapeHtml(language.translate("howOften"))}</legend>
${renderBox("radio", "frequency", "immediately", frequency === "immediately", language.translate("eachAtOnce"))}
${renderBox("radio", "frequency", "weekly", frequency === "weekly", language.translate("onceAWeek"))}
</fieldset>`;
}

function renderLanguages(offered: readonly PageLanguage[], choice: Choice, language: Language) {
  const chosen = choice.language ?? offered[0];
  const options = offered.map(
    (tag) =>
      `<option value="${tag}" lang="${tag}"${tag === chosen ? " selected" : ""}>${escapeHtml(nameLanguage(tag))}</option>`,
  );
  return `<fieldset><label class="pick">${escapeHtml(language.translate("languages"))} <select name="language">${options.join("")}</select></label></fieldset>`;
}

function renderSection(
  { id, name, groupId, monitors }: Section,
  choice: Choice,
  language: Language,
) {
  const { monitorIds = [], groupIds = [] } = choice.components ?? {};
  const boxes = monitors.map((monitor) =>
    renderBox("checkbox", "monitor", monitor.id, monitorIds.includes(monitor.id), monitor.name),
  );
  if (groupId !== null)
    boxes.unshift(
      renderBox(
        "checkbox",
        "group",
        id,
        groupIds.includes(groupId),
        language.translate("wholeGroup", { name }),
      ),
    );
  return `<fieldset><legend dir="auto">${escapeHtml(name)}</legend>${boxes.join("\n")}</fieldset>`;
}

function renderBox(type: string, name: string, value: string, isChecked: boolean, label: string) {
  return `<label><input type="${type}" name="${name}" value="${escapeHtml(value)}"${isChecked ? " checked" : ""}> <span dir="auto">${escapeHtml(label)}</span></label>`;
}

const escapeHtml = (text: string) => Bun.escapeHTML(text);

/** Reads a submitted choice. Ignores components that the page does not show, and languages that it does not offer. */
export function readChoice(
  fields: URLSearchParams,
  {
    sections,
    offered,
    takesDigests,
    choice: before,
  }: Pick<ChoiceForm, "sections" | "offered" | "takesDigests" | "choice">,
): { choice: Choice; error: "chooseSomething" | "chooseFewer" | null } {
  const shownMonitors = new Set(sections.flatMap(({ monitors }) => monitors.map(({ id }) => id)));
  const groupBySection = new Map(sections.map(({ id, groupId }) => [id, groupId]));
  const isAll = fields.get("components") !== "some";
  const monitorIds = [...new Set(fields.getAll("monitor"))].filter((id) => shownMonitors.has(id));
  const groupIds = [...new Set(fields.getAll("group"))].flatMap(
    (id) => groupBySection.get(id) ?? [],
  );
  const severity = fields.get("severity");
  const language = offered.find((tag) => tag === fields.get("language")) ?? before.language;
  const choice = {
    // The default of the page is stored only if another language was chosen before.
    language: before.language === null && language === offered[0] ? null : language,
    incidents: fields.has("incidents"),
    minimumSeverity: severities.find((one) => one === severity) ?? ("minor" satisfies Severity),
    maintenance: fields.has("maintenance"),
    components: isAll ? null : { monitorIds, groupIds },
    frequency:
      takesDigests && fields.get("frequency") === "weekly"
        ? ("weekly" as const)
        : ("immediately" as const),
  };
  const isNothing =
    !(choice.incidents || choice.maintenance) ||
    (!isAll && monitorIds.length + groupIds.length === 0);
  const isTooMuch =
    !isAll &&
    (monitorIds.length > subscriberBounds.monitors.value ||
      groupIds.length > subscriberBounds.groups.value);
  const error = isNothing ? "chooseSomething" : isTooMuch ? "chooseFewer" : null;
  return { choice, error };
}
