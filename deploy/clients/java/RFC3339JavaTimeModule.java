package org.openapitools.client;

import com.fasterxml.jackson.databind.module.SimpleModule;

/** Stands in for the generated module, which needs that of dates. */
public class RFC3339JavaTimeModule extends SimpleModule {}
