/** The sections of a status page's form that most people leave unchanged, each with a summary while it is folded. */
import type { ReactNode } from "react";
import { parseMarkdown, renderText } from "../../../src/core/text/markdown.ts";
import type { Look } from "../../../src/status-pages/look-schema.ts";
import { summarizeFields } from "../../components/forms/field-summary.ts";
import { FoldedSection } from "../../components/forms/form.tsx";
import type { StatusPage } from "../../data/status-pages.ts";
import {
  AccessFields,
  AppearanceFields,
  FileField,
  nameLanguage,
  type PageForm,
  type PageValues,
  themes,
} from "./fields.tsx";
import { visibilities } from "./labels.tsx";
import {
  BannerFields,
  CodeFields,
  ColorFields,
  colorFields,
  LinkFields,
  lookKinds,
  lookLabels,
  ShapeFields,
} from "./look-fields.tsx";
import { t, tCount } from "../../language/text.ts";

type Section = { title: string; summary: string; fields: readonly string[]; content: ReactNode };

type Props = {
  form: PageForm;
  page: StatusPage;
  isPasswordSet: boolean;
  onChanged: (page: StatusPage) => void;
};

export const FoldedSections = (props: Props) =>
  [...listAccessAndAppearance(props), ...listLook(props)].map((section) => {
    const { title, summary, fields, content } = section;
    return (
      <FoldedSection
        key={title}
        title={title}
        summary={summary}
        open={false}
        invalid={fields.some((name) => props.form.errorOf(name) !== undefined)}
      >
        <div className="form-section">{content}</div>
      </FoldedSection>
    );
  });

const joinParts = (parts: readonly (string | false)[]) => parts.filter(Boolean).join(" · ");

function listAccessAndAppearance({ form, page, isPasswordSet, onChanged }: Props): Section[] {
  const { values } = form;
  return [
    {
      title: t("Access"),
      summary: joinParts([visibilities[values.visibility].label, ...values.hosts]),
      fields: accessFields,
      content: <AccessFields form={form} isPasswordSet={isPasswordSet} />,
    },
    {
      title: t("Appearance"),
      summary: summarizeAppearance(values),
      fields: appearanceFields,
      content: (
        <>
          <FileField name="logo" page={page} onChanged={onChanged} />
          <AppearanceFields form={form} />
        </>
      ),
    },
  ];
}

const accessFields = [
  "visibility",
  "password",
  "allowedAddresses",
  "allowedRoles",
  "visitorProviders",
  "indexing",
  "chatSubscriptions",
  "hosts",
];

const appearanceFields = [
  "accentColor",
  "theme",
  "historyDays",
  "timeZone",
  "language",
  "languages",
  "showLatency",
  "showPaused",
  "countImpacts",
];

const summarizeAppearance = (values: PageValues) =>
  joinParts([
    [values.language, ...values.languages].map(nameLanguage).join(", "),
    themes[values.theme],
    tCount(values.historyDays, "{count} day", "{count} days"),
    values.timeZone,
  ]);

const shapeFields = [
  "font",
  "corners",
  "header",
  "logoSize",
  "layout",
  "stateSet",
  "showUptime",
  "showIcons",
] as const;

function listLook({ form, page, onChanged }: Props): Section[] {
  const { look } = form.values;
  return [
    {
      title: t("Look"),
      summary: summarizeShapes(look),
      fields: shapeFields.map((name) => `look.${name}`),
      content: (
        <>
          <ShapeFields form={form} />
          <FileField name="font" page={page} onChanged={onChanged} />
          <FileField name="favicon" page={page} onChanged={onChanged} />
        </>
      ),
    },
    {
      title: t("Colors"),
      summary: summarizeColors(look),
      fields: colorFields,
      content: <ColorFields form={form} />,
    },
    {
      title: t("Announcement"),
      summary: look.banner === null ? t("None") : renderText(parseMarkdown(look.banner.text)),
      fields: ["look.banner"],
      content: <BannerFields form={form} />,
    },
    {
      title: t("Links"),
      summary:
        [...look.headerLinks, ...look.footerLinks].map(({ label }) => label).join(", ") ||
        t("None"),
      fields: ["look.headerLinks", "look.footerLinks"],
      content: <LinkFields form={form} />,
    },
    {
      title: t("CSS and embedding"),
      summary: joinParts([look.css !== "" && "CSS", ...look.embedOrigins]) || t("None"),
      fields: ["look.css", "look.embedOrigins"],
      content: <CodeFields form={form} />,
    },
  ];
}

const summarizeShapes = (look: Look) =>
  summarizeFields(
    shapeFields.map((name) => ({
      name,
      kind: lookKinds[name],
      labels: lookLabels[name],
      value: look[name],
      isKey: name === "font" || name === "layout",
    })),
  );

function summarizeColors({ colors, darkColors, stateColors }: Look): string {
  const count = [colors, darkColors, stateColors]
    .flatMap((group) => Object.values(group))
    .filter((color) => color !== null).length;
  return count === 0 ? t("Default") : t("{count} chosen", { count });
}
