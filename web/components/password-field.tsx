import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { useId } from "@mantine/hooks";

/** A password's field that says what is wrong with it to everybody: Mantine's own tells only those who see it. */
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
