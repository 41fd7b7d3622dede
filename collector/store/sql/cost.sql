-- What usage costs, in hundred-thousandths of a micro-dollar: `usage` is a row of figures, `price` a row of prices in
-- billionths of a dollar per token. The only formula: it takes the place of the comment `cost` in every view and query.
(
    usage.input_tokens * price.input
    + usage.output_tokens * price.output
    + usage.cache_read_tokens * price.cache_read
    + (usage.cache_creation_tokens - usage.cache_creation_1h_tokens) * price.cache_write_5m
    + usage.cache_creation_1h_tokens * price.cache_write_1h
) * usage.percent
+ usage.web_search_requests * price.web_search * 100
