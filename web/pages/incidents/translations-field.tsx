import type { PageLanguage } from "../../../src/core/languages.ts";
import { FoldedSection } from "../../components/forms/form.tsx";
import { MarkdownField } from "../../components/forms/markdown-field.tsx";
import { buildTranslations, type EnteredTranslations, nameLanguage } from "./translations.ts";
import { t } from "../../language/text.ts";

/** Folded fields for the translations of a message. Without a language, renders nothing. */
export function TranslationsField({
  languages,
  value = {},
  onChange,
  hasOriginal,
  errorOf,
}: {
  languages: readonly PageLanguage[];
  value: EnteredTranslations | undefined;
  onChange: (value: EnteredTranslations) => void;
  /** Whether the message itself has a text. */
  hasOriginal: boolean;
  errorOf: (path: string) => string | undefined;
}) {
  if (languages.length === 0) return null;
  const count = Object.keys(buildTranslations(value, languages)).length;
  return (
    <FoldedSection
      title={t("Translations")}
      summary={t("{count} of {total}", { count, total: languages.length })}
      open={count > 0}
      invalid={languages.some((tag) => errorOf(`translations.${tag}.message`) !== undefined)}
    >
      {count > 0 && !hasOriginal && (
        <p className="quiet" role="alert">
          {t("Write the message first. Readers of other languages get it.")}
        </p>
      )}
      <div className="flex flex-col gap-10">
        {languages.map((tag) => (
          <MarkdownField
            key={tag}
            lang={tag}
            label={nameLanguage(tag)}
            value={value[tag] ?? ""}
            onChange={({ currentTarget }) => onChange({ ...value, [tag]: currentTarget.value })}
            error={errorOf(`translations.${tag}.message`)}
          />
        ))}
      </div>
    </FoldedSection>
  );
}
