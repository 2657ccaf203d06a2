/** The form fields of a status page's look: shapes, colors, announcement, links and CSS. */
import { ColorInput, Select, Textarea } from "@mantine/core";
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { type Look, lookFields } from "../../../src/status-pages/look-schema.ts";
import { colorBlindStates, stateNames } from "../../../src/status-pages/rendering/palette-rules.ts";
import { describeField } from "../../components/forms/field-kinds.ts";
import { MarkdownField } from "../../components/forms/markdown-field.tsx";
import { SchemaField } from "../../components/forms/schema-field.tsx";
import { noSecrets } from "../../components/forms/stored-secrets.ts";
import { describeCorrection } from "./color-corrections.ts";
import type { PageForm } from "./fields.tsx";
import { t } from "../../language/text.ts";

type Name = keyof Look;

export const lookLabels: Partial<Record<Name, FieldLabels>> = {
  font: {
    label: t("Font"),
    options: { inter: "Inter", system: t("System"), serif: t("Serif"), mono: t("Monospaced") },
  },
  corners: {
    label: t("Corners"),
    options: { round: t("Round"), small: t("Slightly round"), square: t("Square") },
  },
  logoSize: {
    label: t("Logo size"),
    options: { small: t("Small"), medium: t("Medium"), large: t("Large") },
    hint: t("24, 32 or 56 pixels high."),
  },
  header: { label: t("Header"), options: { left: t("Left"), centered: t("Centered") } },
  layout: {
    label: t("Monitors as"),
    options: { list: t("List"), compact: t("Compact list"), grid: t("Grid") },
    hint: t("Compact lists and grids show the last 30 days."),
  },
  stateSet: {
    label: t("State colors"),
    options: { standard: t("Standard"), "color-blind": t("For color blindness") },
    hint: t("Those for color blindness stay different for people who can't tell red from green."),
  },
  showUptime: { label: t("Show uptime"), hint: t("In percent, next to each monitor.") },
  showIcons: { label: t("Show state icons"), hint: t("Next to the word of each state.") },
  headerLinks: { label: t("Links in the header"), item: t("link"), hint: "" },
  footerLinks: { label: t("Links at the end of the page"), item: t("link"), hint: "" },
  embedOrigins: {
    label: t("Websites that can embed the page"),
    hint: t(
      "Their origins, such as https://team.example. See “Addresses and badges” for the HTML.",
    ),
  },
};

export const lookKinds = Object.fromEntries(
  Object.entries(lookFields).map(([name, field]) => [name, describeField(field)]),
) as Record<Name, ReturnType<typeof describeField>>;

function Field({ form, name }: { form: PageForm; name: Name }) {
  const { look } = form.values;
  return (
    <SchemaField
      name={`look.${name}`}
      kind={lookKinds[name]}
      labels={lookLabels[name]}
      value={look[name]}
      onChange={(value) => form.set("look", { ...look, [name]: value })}
      error={form.errorOf(`look.${name}`)}
      secrets={{ ...noSecrets, errorOf: form.errorOf }}
    />
  );
}

type Props = { form: PageForm };

const groundNames = ["background", "surface", "text"] as const;

export const ShapeFields = ({ form }: Props) => (
  <>
    <div className="field-row">
      <Field form={form} name="font" />
      <Field form={form} name="corners" />
    </div>
    <div className="field-row">
      <Field form={form} name="header" />
      <Field form={form} name="logoSize" />
    </div>
    <div className="field-row">
      <Field form={form} name="layout" />
      <Field form={form} name="stateSet" />
    </div>
    <Field form={form} name="showUptime" />
    <Field form={form} name="showIcons" />
  </>
);

/** Names of the color fields. */
export const colorFields = (["colors", "darkColors", "stateColors"] as const).flatMap((group) =>
  (group === "stateColors" ? stateNames : groundNames).map((name) => `look.${group}.${name}`),
);

export const ColorFields = ({ form }: Props) => (
  <>
    <Colors form={form} group="colors" title={t("light")} />
    <Colors form={form} group="darkColors" title={t("dark")} />
    <StateColors form={form} />
  </>
);

export const LinkFields = ({ form }: Props) => (
  <>
    <Field form={form} name="headerLinks" />
    <Field form={form} name="footerLinks" />
  </>
);

export const CodeFields = ({ form }: Props) => (
  <>
    <Textarea
      label="CSS"
      description={t("Colors, fonts, spacing, borders and sizes. Not on the page for subscribing.")}
      classNames={{ input: "mono" }}
      autosize
      minRows={3}
      maxRows={16}
      spellCheck={false}
      value={form.values.look.css}
      onChange={({ currentTarget: { value: css } }) =>
        form.set("look", { ...form.values.look, css })
      }
      error={form.errorOf("look.css")}
    />
    <Field form={form} name="embedOrigins" />
  </>
);

const tones = {
  neutral: t("Neutral"),
  good: t("Good news"),
  notice: t("Notice"),
  warning: t("Warning"),
  critical: t("Critical"),
} as const;

export function BannerFields({ form }: Props) {
  const { look } = form.values;
  const { banner } = look;
  const change = (next: Look["banner"]) => form.set("look", { ...look, banner: next });
  return (
    <>
      <MarkdownField
        label={t("Announcement")}
        description={t("At the top of the page, until you remove it.")}
        value={banner?.text ?? ""}
        onChange={({ currentTarget: { value: text } }) =>
          change(text === "" ? null : { tone: banner?.tone ?? "neutral", text })
        }
        error={form.errorOf("look.banner.text") ?? form.errorOf("look.banner")}
      />
      {banner !== null && (
        <Select
          label={t("Kind of announcement")}
          data={Object.entries(tones).map(([value, label]) => ({ value, label }))}
          value={banner.tone}
          onChange={(tone) =>
            change({ ...banner, tone: (tone ?? "neutral") as typeof banner.tone })
          }
          allowDeselect={false}
        />
      )}
    </>
  );
}

const groundLabels = { background: t("Background"), surface: t("Cards"), text: t("Text") } as const;

type ColorsProps = { form: PageForm; group: "colors" | "darkColors"; title: string };

function Colors({ form, group, title }: ColorsProps) {
  const { look } = form.values;
  return (
    <div className="color-row">
      {groundNames.map((name) => (
        <Color
          key={name}
          label={`${groundLabels[name]}, ${title}`}
          value={look[group][name]}
          onChange={(color) =>
            form.set("look", { ...look, [group]: { ...look[group], [name]: color } })
          }
          error={form.errorOf(`look.${group}.${name}`)}
        />
      ))}
    </div>
  );
}

const stateLabels = {
  up: t("Up"),
  degraded: t("Degraded"),
  down: t("Down"),
  maintenance: t("Maintenance"),
  none: t("No data"),
} as const;

function StateColors({ form }: { form: PageForm }) {
  const { look } = form.values;
  return (
    <div className="color-row">
      {stateNames.map((name) => {
        const chosen = look.stateColors[name];
        return (
          <Color
            key={name}
            label={stateLabels[name]}
            value={chosen}
            placeholder={look.stateSet === "color-blind" ? colorBlindStates[name] : t("Default")}
            hint={chosen === null ? undefined : describeCorrection(look, chosen)}
            onChange={(color) =>
              form.set("look", { ...look, stateColors: { ...look.stateColors, [name]: color } })
            }
            error={form.errorOf(`look.stateColors.${name}`)}
          />
        );
      })}
    </div>
  );
}

function Color({
  label,
  value,
  hint,
  placeholder = t("Default"),
  onChange,
  error,
}: {
  label: string;
  value: string | null;
  hint?: string | undefined;
  placeholder?: string;
  onChange: (color: string | null) => void;
  error: string | undefined;
}) {
  return (
    <ColorInput
      label={label}
      description={hint}
      inputWrapperOrder={["label", "input", "description", "error"]}
      placeholder={placeholder}
      format="hex"
      fixOnBlur={false}
      withEyeDropper={false}
      value={value ?? ""}
      onChange={(color) => onChange(color === "" ? null : color)}
      error={error}
    />
  );
}
