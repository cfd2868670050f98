/** There is nothing to go by: the rule is unscored, for this reason. */
export class Unknown extends Error {}
