package com.fasterxml.jackson.datatype.jsr310;

import com.fasterxml.jackson.databind.module.SimpleModule;

/** Stands in for the module of dates, which Debian lacks. The contract has no dates. */
public class JavaTimeModule extends SimpleModule {}
