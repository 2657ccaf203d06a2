/** Types of the parts of `css-tree` that don't load its tables of all properties. */
declare module "css-tree/parser" {
  export { parse as default } from "css-tree";
}
declare module "css-tree/walker" {
  export { walk as default } from "css-tree";
}
declare module "css-tree/generator" {
  export { generate as default } from "css-tree";
}
