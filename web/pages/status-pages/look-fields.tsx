/** The form fields of a status page's look: colors, font, shapes, header and lists. */
import { ColorInput, Select, Textarea } from "@mantine/core";
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { type Look, lookFields } from "../../../src/status-pages/look-schema.ts";
import { colorBlindStates, stateNames } from "../../../src/status-pages/rendering/palette-rules.ts";
import { describeField } from "../../components/forms/field-kinds.ts";
import { Fold } from "../../components/forms/form.tsx";
import { MarkdownField } from "../../components/forms/markdown-field.tsx";
import { SchemaField } from "../../components/forms/schema-field.tsx";
import { noSecrets } from "../../components/forms/stored-secrets.ts";
import { describeCorrection } from "./color-corrections.ts";
import type { PageForm } from "./fields.tsx";

type Name = keyof Look;

const labels: Partial<Record<Name, FieldLabels>> = {
  font: {
    label: "Font",
    options: { inter: "Inter", system: "System", serif: "Serif", mono: "Monospaced" },
  },
  corners: { label: "Corners" },
  logoSize: { label: "Logo size" },
  header: { label: "Header" },
  layout: { label: "Monitors as", hint: "Compact lists and grids show the last 30 days." },
  stateSet: {
    label: "State colors",
    options: { standard: "Standard", "color-blind": "For color blindness" },
    hint: "Those for color blindness stay different for people who can't tell red from green.",
  },
  showUptime: { label: "Show uptime", hint: "In percent, next to each monitor." },
  showIcons: { label: "Show state icons", hint: "Next to the word of each state." },
  headerLinks: { label: "Links in the header", item: "link", hint: "" },
  footerLinks: { label: "Links at the end of the page", item: "link", hint: "" },
  embedOrigins: {
    label: "Websites that can embed the page",
    hint: "Their origins, such as https://team.example. See “Addresses and badges” for the HTML.",
  },
};

const kinds = Object.fromEntries(
  Object.entries(lookFields).map(([name, field]) => [name, describeField(field)]),
) as Record<Name, ReturnType<typeof describeField>>;

function Field({ form, name }: { form: PageForm; name: Name }) {
  const { look } = form.values;
  return (
    <SchemaField
      name={`look.${name}`}
      kind={kinds[name]}
      labels={labels[name]}
      value={look[name]}
      onChange={(value) => form.set("look", { ...look, [name]: value })}
      error={form.errorOf(`look.${name}`)}
      secrets={{ ...noSecrets, errorOf: form.errorOf }}
    />
  );
}

export function LookFields({ form }: { form: PageForm }) {
  const { look } = form.values;
  const count = [look.colors, look.darkColors, look.stateColors]
    .flatMap((colors) => Object.values(colors))
    .filter((color) => color !== null).length;
  const hasColorError = ["colors", "darkColors", "stateColors"].some((group) =>
    [...groundNames, ...stateNames].some(
      (name) => form.errorOf(`look.${group}.${name}`) !== undefined,
    ),
  );
  return (
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
      <Fold
        title="Colors"
        summary={count === 0 ? "Default" : `${count} chosen`}
        open={count > 0}
        invalid={hasColorError}
      >
        <div className="form-section">
          <Colors form={form} group="colors" title="light" />
          <Colors form={form} group="darkColors" title="dark" />
          <StateColors form={form} />
        </div>
      </Fold>
      <BannerFields form={form} />
      <Field form={form} name="headerLinks" />
      <Field form={form} name="footerLinks" />
      <Textarea
        label="CSS"
        description="Colors, fonts, spacing, borders and sizes. Not on the page for subscribing."
        classNames={{ input: "mono" }}
        autosize
        minRows={3}
        maxRows={16}
        spellCheck={false}
        value={look.css}
        onChange={({ currentTarget: { value: css } }) => form.set("look", { ...look, css })}
        error={form.errorOf("look.css")}
      />
      <Field form={form} name="embedOrigins" />
    </>
  );
}

const tones = {
  neutral: "Neutral",
  good: "Good news",
  notice: "Notice",
  warning: "Warning",
  critical: "Critical",
} as const;

function BannerFields({ form }: { form: PageForm }) {
  const { look } = form.values;
  const { banner } = look;
  const change = (next: Look["banner"]) => form.set("look", { ...look, banner: next });
  return (
    <>
      <MarkdownField
        label="Announcement"
        description="At the top of the page, until you remove it."
        value={banner?.text ?? ""}
        onChange={({ currentTarget: { value: text } }) =>
          change(text === "" ? null : { tone: banner?.tone ?? "neutral", text })
        }
        error={form.errorOf("look.banner.text") ?? form.errorOf("look.banner")}
      />
      {banner !== null && (
        <Select
          label="Kind of announcement"
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

const groundNames = ["background", "surface", "text"] as const;
const groundLabels = { background: "Background", surface: "Cards", text: "Text" } as const;

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
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance",
  none: "No data",
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
            placeholder={look.stateSet === "color-blind" ? colorBlindStates[name] : "Default"}
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
  placeholder = "Default",
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
