/**
 * Finds the sentences that the server can write about a failure: evaluates the expressions that create them, with `gap`
 * for each value that is only known at run time.
 */
import { Glob } from "bun";
import { dirname, join } from "node:path";
import ts from "typescript";

/** Stands for a value that is only known at run time. */
export const gap = "\0";

/** Source of texts: an expression that creates them. */
export type Source = { node: ts.Expression; path: string };

type Literal = ts.ObjectLiteralExpression | ts.ArrayLiteralExpression;
type Value = string | { literal: Literal; scope: Scope };
/** Arguments of the calls that are being evaluated, by parameter. */
type Scope = ReadonlyMap<ts.Symbol, { node: ts.Expression; scope: Scope }>;

const outermost: Scope = new Map();
const maxDepth = 40;
/** More alternatives than this within a text are texts of their own. */
const maxInside = 15;
/** Functions that format values. */
const formatters =
  /^(excerpt|formatUtc|formatBytes|formatDuration|formatNumber|formatTimestamp|formatNames|escape|fold|to\w*Line|String$)/;

export function loadProgram(root: string, folders: readonly string[]): ts.Program {
  const files = folders.flatMap((folder) =>
    [...new Glob(`${folder}/**/*.ts`).scanSync(root)].map((file) => join(root, file)),
  );
  const options: ts.CompilerOptions = {
    noLib: true,
    types: [],
    allowImportingTsExtensions: true,
    noEmit: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.Latest,
  };
  return ts.createProgram(files, options, {
    ...ts.createCompilerHost(options),
    // Packages create no sentences.
    resolveModuleNameLiterals: (literals, containing) =>
      literals.map(({ text }) => ({
        resolvedModule: text.startsWith(".")
          ? {
              resolvedFileName: join(dirname(containing), text),
              extension: ts.Extension.Ts,
            }
          : undefined,
      })),
  });
}

export function visitNodes(node: ts.Node, visit: (node: ts.Node) => void) {
  visit(node);
  ts.forEachChild(node, (child) => visitNodes(child, visit));
}

/** Evaluates expressions to the texts that they can have. */
export class Evaluator {
  /** Parts with many alternatives, which the texts contain only once. */
  readonly parts = new Set<string>();
  private readonly checker: ts.TypeChecker;
  private readonly files: readonly ts.SourceFile[];
  /** Arguments of all calls, by the name of the function. */
  private readonly calls = new Map<string, (ts.CallExpression | ts.NewExpression)[]>();
  /** Methods of object literals, by name. */
  private readonly methods = new Map<string, ts.MethodDeclaration[]>();
  private readonly known = new Map<ts.Node, Value[]>();
  private depth = 0;

  constructor(program: ts.Program, files: readonly ts.SourceFile[]) {
    this.checker = program.getTypeChecker();
    this.files = files;
    for (const file of this.files)
      visitNodes(file, (node) => {
        if (ts.isMethodDeclaration(node) && ts.isObjectLiteralExpression(node.parent)) {
          const name = node.name.getText(file);
          this.methods.set(name, [...(this.methods.get(name) ?? []), node]);
        }
        if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
        const name = getLastName(node.expression);
        this.calls.set(name, [...(this.calls.get(name) ?? []), node]);
      });
  }

  listTexts(node: ts.Expression, scope = outermost): string[] {
    return [...new Set(this.evaluate(node, scope).map(toText))];
  }

  listShorthandTexts(property: ts.ShorthandPropertyAssignment): string[] {
    const symbol = this.checker.getShorthandAssignmentValueSymbol(property);
    return [...new Set(this.evaluateSymbol(symbol, outermost).map(toText))];
  }

  /** Texts in a table, at any depth. */
  listMemberTexts(node: ts.Expression): string[] {
    const list = (value: Value): string[] =>
      typeof value === "string" ? [value] : this.listMembers(value, null).flatMap(list);
    // Codes have no spaces.
    return this.evaluate(node, outermost)
      .flatMap(list)
      .filter((text) => text.includes(" "));
  }

  private evaluate(node: ts.Expression, scope: Scope): Value[] {
    if (this.depth > maxDepth) return [gap];
    const known = scope === outermost ? this.known.get(node) : undefined;
    if (known !== undefined) return known;
    this.depth++;
    const values = [...new Set(this.evaluateNode(node, scope))];
    this.depth--;
    if (scope === outermost) this.known.set(node, values);
    return values;
  }

  private evaluateNode(node: ts.Expression, scope: Scope): Value[] {
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (node.kind === ts.SyntaxKind.NullKeyword) return [];
    if (
      ts.isParenthesizedExpression(node) ||
      ts.isAsExpression(node) ||
      ts.isNonNullExpression(node) ||
      ts.isSatisfiesExpression(node) ||
      ts.isAwaitExpression(node)
    )
      return this.evaluate(node.expression, scope);
    if (ts.isTemplateExpression(node))
      return this.join([
        [node.head.text],
        ...node.templateSpans.flatMap(({ expression, literal }) => [
          this.listInside(expression, scope),
          [literal.text],
        ]),
      ]);
    if (ts.isBinaryExpression(node)) return this.evaluateBinary(node, scope);
    if (ts.isConditionalExpression(node))
      return [...this.evaluate(node.whenTrue, scope), ...this.evaluate(node.whenFalse, scope)];
    if (ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node))
      return [{ literal: node, scope }];
    if (ts.isIdentifier(node))
      return node.text === "undefined" ? [] : this.evaluateSymbol(this.findSymbol(node), scope);
    if (ts.isPropertyAccessExpression(node))
      return this.evaluateMember(node, node.name.text, scope);
    if (ts.isElementAccessExpression(node)) return this.evaluateMember(node, null, scope);
    if (ts.isCallExpression(node)) return this.evaluateCall(node, scope);
    const [first] = ts.isNewExpression(node) ? (node.arguments ?? []) : [];
    return first === undefined ? [gap] : this.evaluate(first, scope);
  }

  private evaluateBinary({ left, right, operatorToken }: ts.BinaryExpression, scope: Scope) {
    switch (operatorToken.kind) {
      case ts.SyntaxKind.PlusToken:
        return this.join([this.listInside(left, scope), this.listInside(right, scope)]);
      case ts.SyntaxKind.QuestionQuestionToken:
      case ts.SyntaxKind.BarBarToken:
        return [...this.evaluate(left, scope), ...this.evaluate(right, scope)];
      case ts.SyntaxKind.AmpersandAmpersandToken:
        return this.evaluate(right, scope);
      default:
        return [gap];
    }
  }

  /** Texts of an expression inside another text. If there are several, only the first is inside; all are separate texts. */
  private listInside(node: ts.Expression, scope: Scope): string[] {
    const texts = this.listTexts(node, scope);
    if (texts.length === 0) return [""];
    if (texts.length <= maxInside) return texts;
    for (const text of texts) this.parts.add(text);
    return texts.slice(0, 1);
  }

  private join(parts: readonly (readonly string[])[]): string[] {
    return parts.reduce<string[]>(
      (starts, ends) => starts.flatMap((start) => ends.map((end) => start + end)),
      [""],
    );
  }

  private findSymbol(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.checker.getSymbolAtLocation(node);
    return symbol && symbol.flags & ts.SymbolFlags.Alias
      ? this.checker.getAliasedSymbol(symbol)
      : symbol;
  }

  private evaluateSymbol(symbol: ts.Symbol | undefined, scope: Scope): Value[] {
    const bound = symbol && scope.get(symbol);
    if (bound) return this.evaluate(bound.node, bound.scope);
    const declaration = symbol?.valueDeclaration;
    if (declaration === undefined) return [gap];
    if (ts.isVariableDeclaration(declaration)) return this.evaluateVariable(declaration, scope);
    if (ts.isParameter(declaration)) return this.evaluateParameter(declaration);
    if (ts.isBindingElement(declaration)) return this.evaluateBinding(declaration, scope);
    return [gap];
  }

  private evaluateVariable(declaration: ts.VariableDeclaration, scope: Scope): Value[] {
    const { initializer, name } = declaration;
    const values = initializer === undefined ? [] : this.evaluate(initializer, scope);
    if (declaration.parent.flags & ts.NodeFlags.Let)
      visitNodes(declaration.getSourceFile(), (node) => {
        if (
          ts.isBinaryExpression(node) &&
          node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
          node.left.getText() === name.getText()
        )
          values.push(...this.evaluate(node.right, scope));
      });
    return values.length === 0 ? [gap] : values;
  }

  /** Evaluates the arguments of all calls. */
  private evaluateParameter(parameter: ts.ParameterDeclaration): Value[] {
    const { parent, initializer } = parameter;
    const name = findFunctionName(parent);
    const symbol = name && this.findSymbol(name);
    const calls = (name && this.calls.get(name.getText())) ?? [];
    const index = parent.parameters.indexOf(parameter as never);
    const given = calls
      .filter(({ expression }) => this.findSymbol(getLastNode(expression)) === symbol)
      .flatMap((call) => call.arguments?.[index] ?? []);
    const values = [...given, ...(initializer ? [initializer] : [])].flatMap((node) =>
      ts.isSpreadElement(node) ? [gap] : this.evaluate(node, outermost),
    );
    return given.length === 0 ? [gap, ...values] : values;
  }

  private evaluateBinding(element: ts.BindingElement, scope: Scope): Value[] {
    const pattern = element.parent;
    const holder = pattern.parent;
    const name = (element.propertyName ?? element.name).getText();
    let from: Value[] = [gap];
    if (ts.isVariableDeclaration(holder) && holder.initializer)
      from = this.evaluate(holder.initializer, scope);
    if (ts.isParameter(holder)) {
      const bound = scope.get(getOwnSymbol(holder));
      from = bound ? this.evaluate(bound.node, bound.scope) : this.evaluateParameter(holder);
    }
    const found = from
      .filter((value) => typeof value !== "string")
      .flatMap((value) => this.listMembers(value, name));
    const values = found.length === 0 ? this.listLiteralsOfType(element.name) : found;
    return element.initializer ? [...values, ...this.evaluate(element.initializer, scope)] : values;
  }

  private evaluateMember(
    node: ts.PropertyAccessExpression | ts.ElementAccessExpression,
    name: string | null,
    scope: Scope,
  ): Value[] {
    const found = this.evaluate(node.expression, scope)
      .filter((value) => typeof value !== "string")
      .flatMap((value) => this.listMembers(value, name));
    return found.length > 0 ? found : this.listLiteralsOfType(node);
  }

  /** Values of a lookup table, which is an object or a map with entries. */
  private evaluateEntries(callee: ts.PropertyAccessExpression, scope: Scope): Value[] {
    return this.evaluateMember(callee, null, scope).flatMap((value) => {
      const entry = typeof value === "string" ? undefined : value.literal;
      return entry && ts.isArrayLiteralExpression(entry) && entry.elements[1]
        ? this.evaluate(entry.elements[1], scope)
        : [value];
    });
  }

  /** Values of a type such as `"up" | "down"`. */
  private listLiteralsOfType(node: ts.Node): string[] {
    const type = this.checker.getTypeAtLocation(node);
    const types = type.isUnion() ? type.types : [type];
    return types.every((one) => one.isStringLiteral()) ? types.map(({ value }) => value) : [gap];
  }

  /** Values of a property, or of all for null. */
  private listMembers(value: Value, name: string | null): Value[] {
    if (typeof value === "string") return [gap];
    const { literal, scope } = value;
    if (ts.isArrayLiteralExpression(literal))
      return literal.elements.flatMap((node) =>
        ts.isSpreadElement(node) ? [gap] : this.evaluate(node, scope),
      );
    return literal.properties.flatMap((property) => {
      if (ts.isSpreadAssignment(property))
        return this.evaluate(property.expression, scope).flatMap((one) =>
          typeof one === "string" ? [] : this.listMembers(one, name),
        );
      const own = property.name?.getText().replace(/^["']|["']$/g, "");
      if (name !== null && own !== name) return [];
      if (ts.isPropertyAssignment(property)) return this.evaluate(property.initializer, scope);
      return ts.isShorthandPropertyAssignment(property)
        ? this.evaluateSymbol(this.checker.getShorthandAssignmentValueSymbol(property), scope)
        : [];
    });
  }

  private evaluateCall(call: ts.CallExpression, scope: Scope): Value[] {
    const { expression: callee, arguments: args } = call;
    const [first, second] = args;
    const name = ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText();
    if (formatters.test(name)) return [gap];
    if (ts.isPropertyAccessExpression(callee)) {
      const texts = () => this.listTexts(callee.expression, scope);
      if (name === "get") return this.evaluateEntries(callee, scope);
      if (name === "slice" && args.map((one) => one.getText()).join() === "0,-1")
        return texts().map((text) => text.slice(0, -1));
      if (name === "replace" && second && ts.isStringLiteral(second))
        return texts().map((text) => text.replace(toExpression(first), second.text));
      if (name === "toLowerCase") return texts().map((text) => text.toLowerCase());
      if (name === "join" && second === undefined && first && ts.isStringLiteral(first))
        return this.joinElements(callee.expression, first.text, scope);
    }
    if (first && (name === "createLookup" || callee.getText() === "Object.entries"))
      return this.evaluate(first, scope);
    if (first && name === "capitalize")
      return this.listTexts(first, scope).map(
        (text) => text.charAt(0).toUpperCase() + text.slice(1),
      );
    const called = this.findFunctions(this.findSymbol(callee));
    return called.length === 0
      ? [gap]
      : called.flatMap((one) => this.evaluateFunction(one, args, scope));
  }

  /** Functions that a call can reach: of a method of a type, all with its name. */
  private findFunctions(symbol: ts.Symbol | undefined): ts.FunctionLikeDeclaration[] {
    const declaration = symbol?.valueDeclaration;
    if (declaration === undefined) return [];
    if (ts.isMethodSignature(declaration))
      return this.methods.get(declaration.name.getText()) ?? [];
    const node = ts.isVariableDeclaration(declaration) ? declaration.initializer : declaration;
    return node && ts.isFunctionLike(node) && "body" in node
      ? [node as ts.FunctionLikeDeclaration]
      : [];
  }

  private joinElements(node: ts.Expression, separator: string, scope: Scope): string[] {
    if (!ts.isArrayLiteralExpression(node)) return [gap, gap + separator + gap];
    return this.join(
      node.elements.flatMap((element, index) => [
        ...(index === 0 ? [] : [[separator]]),
        this.listInside(element, scope),
      ]),
    );
  }

  private evaluateFunction(
    called: ts.FunctionLikeDeclaration,
    args: readonly ts.Expression[],
    scope: Scope,
  ): Value[] {
    const inner = new Map(scope);
    for (const [index, parameter] of called.parameters.entries()) {
      const node = args[index] ?? parameter.initializer;
      if (node) inner.set(getOwnSymbol(parameter), { node, scope: args[index] ? scope : inner });
    }
    return listReturned(called).flatMap((node) => this.evaluate(node, inner));
  }
}

const getLastNode = (node: ts.Expression): ts.Node =>
  ts.isPropertyAccessExpression(node) ? node.name : node;

const getLastName = (node: ts.Expression) => getLastNode(node).getText();

const toText = (value: Value): string => (typeof value === "string" ? value : gap);

const getOwnSymbol = (node: ts.Node): ts.Symbol =>
  (node as unknown as { symbol: ts.Symbol }).symbol;

function toExpression(node: ts.Expression | undefined): RegExp {
  const [, source = "", flags] = /^\/(.*)\/(\w*)$/s.exec(node?.getText() ?? "") ?? [];
  return new RegExp(source || "$^", flags);
}

function findFunctionName(node: ts.SignatureDeclaration): ts.Node | undefined {
  if (ts.isConstructorDeclaration(node)) return node.parent.name;
  const isVariable = ts.isArrowFunction(node) && ts.isVariableDeclaration(node.parent);
  return isVariable ? (node.parent as ts.VariableDeclaration).name : node.name;
}

function listReturned({ body }: ts.FunctionLikeDeclaration): ts.Expression[] {
  if (body === undefined) return [];
  if (!ts.isBlock(body)) return [body];
  const found: ts.Expression[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isReturnStatement(node) && node.expression) found.push(node.expression);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(body, visit);
  return found;
}
