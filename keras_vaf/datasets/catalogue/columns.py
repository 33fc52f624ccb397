"""Column names of the tables whose files lack a header."""

WINE = (
    *("class", "alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium"),
    *("total_phenols", "flavanoids", "nonflavanoid_phenols", "proanthocyanins"),
    *("color_intensity", "hue", "od280/od315_of_diluted_wines", "proline"),
)

SERVO = ("motor", "screw", "pgain", "vgain", "rise_time")

YACHT = (
    *("buoyancy_position", "prismatic_coefficient", "length_displacement"),
    *("beam_draught", "length_beam", "froude_number", "residuary_resistance"),
)

SENSORLESS = (*(f"attribute_{number}" for number in range(1, 49)), "class")

LIVER = ("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks", "selector")

IMAGE_SEGMENTATION = (
    *("region_centroid_col", "region_centroid_row", "region_pixel_count"),
    *("short_line_density_5", "short_line_density_2", "vedge_mean", "vedge_sd"),
    *("hedge_mean", "hedge_sd", "intensity_mean", "rawred_mean", "rawblue_mean"),
    *("rawgreen_mean", "exred_mean", "exblue_mean", "exgreen_mean", "value_mean"),
    *("saturation_mean", "hue_mean", "class"),
)

# Nine pixels, row by row, with four spectral bands each. The class is that of the fifth
# pixel.
LANDSAT_SATELLITE = (
    *(f"pixel_{pixel}_band_{band}" for pixel in range(1, 10) for band in range(1, 5)),
    "class",
)

DERMATOLOGY = (
    *("erythema", "scaling", "definite_borders", "itching", "koebner_phenomenon"),
    *("polygonal_papules", "follicular_papules", "oral_mucosal_involvement"),
    *("knee_and_elbow_involvement", "scalp_involvement", "family_history"),
    *("melanin_incontinence", "eosinophils_in_the_infiltrate", "pnl_infiltrate"),
    *("fibrosis_of_the_papillary_dermis", "exocytosis", "acanthosis"),
    *("hyperkeratosis", "parakeratosis", "clubbing_of_the_rete_ridges"),
    *("elongation_of_the_rete_ridges", "thinning_of_the_suprapapillary_epidermis"),
    *("spongiform_pustule", "munro_microabcess", "focal_hypergranulosis"),
    "disappearance_of_the_granular_layer",
    *("vacuolisation_and_damage_of_basal_layer", "spongiosis"),
    *("saw_tooth_appearance_of_retes", "follicular_horn_plug"),
    *("perifollicular_parakeratosis", "inflammatory_mononuclear_infiltrate"),
    *("band_like_infiltrate", "age", "class"),
)

CARDIOTOCOGRAPHY = (
    *("LB", "AC", "FM", "UC", "DL", "DS", "DP", "ASTV", "MSTV", "ALTV", "MLTV"),
    *("Width", "Min", "Max", "Nmax", "Nzeros", "Mode", "Mean", "Median", "Variance"),
    *("Tendency", "CLASS", "NSP"),
)

QSAR_BIODEGRADATION = (
    *("SpMax_L", "J_Dz(e)", "nHM", "F01[N-N]", "F04[C-N]", "NssssC", "nCb-", "C%"),
    *("nCp", "nO", "F03[C-N]", "SdssC", "HyWi_B(m)", "LOC", "SM6_L", "F03[C-O]", "Me"),
    *("Mi", "nN-N", "nArNO2", "nCRX3", "SpPosA_B(p)", "nCIR", "B01[C-Br]"),
    *("B03[C-Cl]", "N-073", "SpMax_A", "Psi_i_1d", "B04[C-Br]", "SdO", "TI2_L"),
    *("nCrt", "C-026", "F02[C-N]", "nHDon", "SpMax_B(m)", "Psi_i_A", "nN"),
    *("SM6_B(m)", "nArCOOR", "nX", "class"),
)
