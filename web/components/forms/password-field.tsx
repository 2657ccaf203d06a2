import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { useId } from "@mantine/hooks";

/**
 * A password field whose hint and error are announced by screen readers. Mantine only displays
 * them.
 */
export function PasswordField(props: PasswordInputProps) {
  const id = useId(props.id);
  const described = [
    ...(props.description ? [`${id}-description`] : []),
    ...(props.error ? [`${id}-error`] : []),
  ];
  return (
    <PasswordInput
      {...props}
      id={id}
      aria-invalid={props.error ? true : undefined}
      aria-describedby={described.length > 0 ? described.join(" ") : undefined}
    />
  );
}
